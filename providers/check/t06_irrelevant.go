package check

import "github.com/interlock-harness/interlock/providers"

// t06 offers a tool that has nothing to do with the question and leaves it to the
// model: it must not be called.
var t06 = Check{
	ID: "T06", Title: "a tool that does not fit is not called",
	Kind: Statistical, Severity: Should, Probes: []Probe{Irrelevant},
	judge: func(r *Run, t *tally) {
		for _, o := range r.of(Irrelevant) {
			switch {
			case len(o.Response.Calls) > 0:
				t.fail(o, "tool.irrelevant", o.Response.Calls[0].Place, "a tool about something else is called")
			case o.lost || o.Response.End != providers.FinishNormal:
				t.skip(o, "no whole answer came")
			default:
				t.pass(o)
			}
		}
	},
}
