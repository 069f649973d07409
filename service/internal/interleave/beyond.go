package interleave

const (
	needsClock = "needs a clock that jumps"
	needsFail  = "changes a move, fail, that is not among the nine transactions"
	noSafety   = "says which attempts come first, and when: no promise hangs on it"
	askedTwice = "the same is asked once more in this statement, and each of the two holds alone"
	asOwner    = "the transactions of the explorer ask for their own jobs"
	oneFence   = "an attempt has one fence, and nobody in the explorer brings another"
)

// notPlayed are statements that none of the nine transactions depends on.
var notPlayed = map[string]string{
	"fail-attempt":    needsFail,
	"unknown-attempt": "changes a move, unknown by deadline, that is not among the nine transactions",
	"list-events":     "a read that none of the nine transactions makes",
	"list-races":      "a read that none of the nine transactions makes",
	"trigger-attempt": "no start of the explorer has a trigger key",
}

// beyond says of single mutants why the pairs cannot find them. Each was played
// and not found; one that is found after all is told as a survivor, since then the
// mark is wrong.
var beyond = map[string]string{
	"moves-not-guarded":      "drops a second guard behind the statements' own",
	"result-from-the-future": needsClock,
	"late-failure-reopens":   needsFail,

	"guard:claim-attempts:1":  askedTwice,
	"guard:claim-attempts:2":  "an attempt that has a worker is not in state starting",
	"guard:claim-attempts:3":  noSafety,
	"guard:claim-attempts:4":  noSafety,
	"guard:claim-attempts:5":  noSafety,
	"guard:claim-attempts:6":  "what ends a job cancels its attempts that were not begun",
	"guard:claim-attempts:7":  "what ends a job cancels its attempts that were not begun",
	"guard:claim-attempts:9":  askedTwice,
	"guard:complete-job:1":    "the version moves only with completed_by or cancelled_at, which are asked too",
	"guard:complete-job:2":    "the version is asked too, and moves with it",
	"guard:complete-job:3":    "the version is asked too, and moves with it",
	"guard:expired-leases:1":  "what it finds is asked again before it is moved",
	"guard:expired-leases:2":  "what it finds is asked again before it is moved",
	"guard:expired-leases:3":  "what it finds is asked again before it is moved",
	"guard:reap-attempt:1":    oneFence,
	"guard:reap-attempt:3":    "asked before, and nobody in the explorer renews a lease",
	"guard:job-by-key:1":      "an owner has one job in the explorer",
	"guard:list-attempts:1":   asOwner,
	"guard:lose-attempt:1":    oneFence,
	"guard:lose-attempt:3":    "whether the job has ended is looked at before, under its lock",
	"guard:lock-job:1":        asOwner,
	"guard:resolve-attempt:1": "the state is looked at before, under the job's lock",
	"guard:submit-jobs:1":     "no group travels in the explorer; one that the schema refuses goes on as single submits",
	"guard:win-attempt:1":     oneFence,
}
