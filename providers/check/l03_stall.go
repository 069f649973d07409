package check

import (
	"strconv"

	"github.com/interlock-harness/interlock/providers"
)

// l03 rejects providers that fall silent in the middle of an answer. The wait is
// bounded by the run; the attempt would be unknown, not failed.
var l03 = Check{
	ID: "L03", Title: "no answer falls silent before its end",
	Kind: Deterministic, Severity: Must, Probes: []Probe{Base, Other},
	judge: func(r *Run, t *tally) {
		for _, o := range r.Observations {
			if o.Probe == Cancel { // silent because it was left
				continue
			}
			if o.Transcript.End == providers.EndStall {
				t.fail(o, "stall", "byte "+strconv.Itoa(len(o.Transcript.Body)), "no further byte came within the limit of the run")
				continue
			}
			t.pass(o)
		}
	},
}
