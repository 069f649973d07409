package check

import (
	"github.com/interlock-harness/interlock/providers"
)

// t04 demands that the ids of calls are unique over the run: a reused id sends the
// result of one call to another.
var t04 = Check{
	ID: "T04", Title: "the ids of calls are unique",
	Kind: Relational, Severity: Must, Probes: []Probe{Base, Other},
	judge: func(r *Run, t *tally) {
		used := map[string]bool{}
		for _, o := range r.of(Base, Other) {
			if o.Mode() != providers.ModeTool {
				continue
			}
			if o.lost || len(o.Response.Calls) == 0 {
				t.skip(o, "no call to look at")
				continue
			}
			again := false
			for _, c := range o.Response.Calls {
				again = again || c.ID != "" && used[c.ID]
				used[c.ID] = true
			}
			if again {
				t.fail(o, "call.id", o.Response.Calls[0].Place, "the id of this call was given to another one before")
				continue
			}
			t.pass(o)
		}
	},
}
