package check

import (
	"github.com/interlock-harness/interlock/providers"
)

// r02 demands that the values under the rules of the contract stay the same from
// repeat to repeat.
var r02 = Check{
	ID: "R02", Title: "the same request gives the same values each time",
	Kind: Statistical, Severity: Should, Probes: []Probe{Base},
	judge: func(r *Run, t *tally) {
		for _, list := range r.inOrder(Base) {
			value := func(o *Observation) string { return canonical(o.Judgement.Output) }
			modal := mode(list, value)
			for _, o := range list {
				switch {
				case o.Judgement.Verdict != providers.Accept:
					t.skip(o, "hidden by "+orTransport(o))
				case o.form:
					t.skip(o, "hidden by W10")
				case value(o) != modal:
					t.fail(o, "value.differs", "", "values differ from the other answers to the same request")
				default:
					t.pass(o)
				}
			}
		}
	},
}
