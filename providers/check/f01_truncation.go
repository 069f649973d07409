package check

import (
	"strconv"

	"github.com/interlock-harness/interlock/providers"
)

// f01 asks with far too few output tokens, in both modes, streamed and whole: the
// end must be called a limit. Elsewhere, output that is cut and called complete
// is rejected as well.
var f01 = Check{
	ID: "F01", Title: "truncation is labelled as truncation",
	Kind: Deterministic, Severity: Must, Probes: []Probe{Truncate, Base, Other},
	judge: func(r *Run, t *tally) {
		expect(Truncate, labelled)(r, t)
		for _, o := range r.of(Base, Other) {
			if o.owner == t.check.ID {
				t.byOwner(o)
			}
		}
	},
}

func labelled(_ *Run, o *Observation) (bool, string) {
	switch {
	case o.Response.End == providers.FinishLength:
		return true, ""
	case o.Judgement.Verdict == providers.Accept: // it fitted
		return true, ""
	case !o.ok():
		return false, "a small limit on output was refused with status " + strconv.Itoa(o.Transcript.Status)
	}
	return false, "the answer was cut at the limit and its end is called " + strconv.Quote(o.Response.Finish)
}
