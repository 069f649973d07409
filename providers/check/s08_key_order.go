package check

import (
	"slices"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/strictjson"
)

// s08 looks at the order of keys where the contract declares one. JSON has no
// order, so this is a wish of readers, not a fault of the answer.
var s08 = Check{
	ID: "S08", Title: "keys come in the order that the contract declares",
	Kind: Deterministic, Severity: Should, Probes: []Probe{Base, Other},
	judge: func(r *Run, t *tally) {
		if len(r.KeyOrder) == 0 {
			t.reason = "the contract declares no order"
			return
		}
		for _, o := range r.of(Base, Other) {
			switch {
			case o.Judgement.Verdict != providers.Accept:
				t.skip(o, "hidden by "+orTransport(o))
			case !slices.Equal(inOrder(o.Judgement.Output, r.KeyOrder), declared(o.Judgement.Output, r.KeyOrder)):
				t.fail(o, "keys.order", "", "keys come in another order than the contract declares")
			default:
				t.pass(o)
			}
		}
	},
}

// inOrder lists the top-level keys of a document that the contract declares, as
// they come.
func inOrder(document []byte, known []string) []string {
	root, err := strictjson.Read(document, strictjson.Limits{})
	if err != nil {
		return nil
	}
	var keys []string
	for name := range root.Members() {
		if slices.Contains(known, string(name)) {
			keys = append(keys, string(name))
		}
	}
	return keys
}

// declared lists those that are there in the order of the contract.
func declared(document []byte, known []string) []string {
	there := inOrder(document, known)
	var keys []string
	for _, name := range known {
		if slices.Contains(there, name) {
			keys = append(keys, name)
		}
	}
	return keys
}
