package check

import (
	"strconv"

	"github.com/interlock-harness/interlock/providers"
)

// u02 objects to a cap on output that is not kept, and to counts that do not move:
// an answer that was cut at its cap has used it up.
var u02 = Check{
	ID: "U02", Title: "no more output tokens are stated than were allowed, and a cut answer has used them up",
	Kind: Deterministic, Severity: Should, Probes: []Probe{Base, Other, Truncate},
	judge: func(r *Run, t *tally) {
		owned(Base, Other)(r, t)
		for _, o := range r.of(Truncate) {
			most, u := o.Transcript.Request.MaxOutputTokens, o.Response.Usage
			switch {
			case o.Response.End != providers.FinishLength || most == nil || u == nil || u.Output == nil:
				t.skip(o, "not cut, or no usage stated")
			case *u.Output > *most || *u.Output < *most-max(2, *most/8):
				t.fail(o, "usage.cap", o.Response.At.Usage,
					"cut at a cap of "+strconv.FormatInt(*most, 10)+" tokens, and "+strconv.FormatInt(*u.Output, 10)+" are stated")
			default:
				t.pass(o)
			}
		}
	},
}
