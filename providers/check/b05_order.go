package check

import (
	"encoding/json"

	"github.com/interlock-harness/interlock/providers"
)

// b05 asks again with a list of the input in another order, where the contract says
// that the order does not matter: the answer must be the same, but for the order
// of the lists that follow it. Where the answers to the first order differ among
// themselves there is nothing to compare with.
var b05 = Check{
	ID: "B05", Title: "the order of a list that has none changes nothing",
	Kind: Relational, Severity: Should, Probes: []Probe{Permuted},
	judge: func(r *Run, t *tally) {
		base := r.cases(Base)
		for _, o := range r.of(Permuted) {
			want, why := settled(base[o.Case])
			switch {
			case o.lost || o.owner != "" && r.common[o.owner]:
				t.skip(o, "hidden by "+orTransport(o))
			case why != "":
				t.skip(o, why)
			case o.Judgement.Verdict != providers.Accept:
				t.fail(o, o.Judgement.Reason, o.Judgement.Place, "right in the order of the case, and in another order: "+o.Judgement.Detail)
			case !r.Same(o.Relation, want, o.Judgement.Output):
				t.fail(o, "order.differs", "", "another order of the same list gives another answer")
			default:
				t.pass(o)
			}
		}
	},
}

// settled is the one accepted answer to a case, or why there is none.
func settled(list []*Observation) (json.RawMessage, string) {
	var one json.RawMessage
	for _, o := range list {
		switch {
		case o.Judgement.Verdict != providers.Accept:
			return nil, "hidden by " + orTransport(o)
		case one != nil && canonical(one) != canonical(o.Judgement.Output):
			return nil, "the answers to the order of the case differ among themselves"
		}
		one = o.Judgement.Output
	}
	if one == nil {
		return nil, "no answer to the order of the case"
	}
	return one, ""
}
