package check

import (
	"strconv"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/prompt/render"
)

// u02 objects to a cap on output that is not kept, and to counts that do not move:
// an answer that was cut at its cap has used it up. A prompt that leaves no room
// in the context window for its answer (R17) is no matter of taste: then the check
// is a must.
var u02 = Check{
	ID: "U02", Title: "no more output tokens are stated than were allowed, a cut answer has used them up, and prompt and answer fit",
	Kind: Deterministic, Severity: Should, Probes: []Probe{Base, Other, Truncate},
	judge: func(r *Run, t *tally) {
		owned(Base, Other)(r, t)
		if r.Prompt != nil && r.Prompt.Lost == "" {
			budget := r.Prompt.Report.Result("R17")
			if budget.Verdict == render.Fail {
				t.severity = Must
			}
			t.requirement(r.Prompt, budget)
		}
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
