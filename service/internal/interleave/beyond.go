package interleave

const (
	noSafety = "says which attempts come first, and when: no promise hangs on it"
	asked    = "what it finds is asked again before it is moved, by guards that are found"
	endsAll  = "what ends a job cancels its attempts that were not begun"
	itsFence = "the fence was read from the row itself, which keeps it for ever"
)

// beyond says of single mutants why the pairs cannot find them. Each was played,
// guards also with another one, and not found; one that is found after all is told
// as a survivor, since then the mark is wrong.
var beyond = map[string]string{
	"moves-not-guarded":      "drops a second guard behind the statements' own",
	"result-from-the-future": "needs a clock that jumps",

	"guard:claim-attempts:2":  "an attempt that has a worker is not in state starting",
	"guard:claim-attempts:3":  noSafety,
	"guard:claim-attempts:4":  noSafety,
	"guard:claim-attempts:5":  noSafety,
	"guard:claim-attempts:6":  endsAll,
	"guard:claim-attempts:7":  endsAll,
	"guard:expired-leases:1":  asked,
	"guard:expired-leases:2":  "is always true, and chooses an index",
	"guard:expired-leases:3":  asked,
	"guard:reap-attempt:1":    itsFence,
	"guard:lose-attempt:1":    itsFence,
	"guard:lose-attempt:3":    "whether the job has ended is looked at before, under its lock",
	"guard:resolve-attempt:1": "the state is looked at before, under the job's lock; without that too it is resolve-any-state",
	"guard:submit-jobs:1":     "no group travels in the explorer; one that the schema refuses goes on as single submits",
	"guard:trigger-attempt:1": "lock-job asks for the owner before, in the same transaction",
}
