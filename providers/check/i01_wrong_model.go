package check

import (
	"strconv"
)

// i01 is a negative control: a model that does not exist must be refused. A
// server that answers for it says nothing about any model.
var i01 = Check{
	ID: "I01", Title: "a model that does not exist is refused",
	Kind: Deterministic, Severity: Must, Probes: []Probe{WrongModel},
	judge: expect(WrongModel, func(_ *Run, o *Observation) (bool, string) {
		if s := o.Transcript.Status; s >= 400 && s <= 499 {
			return true, ""
		}
		return false, "a model that does not exist was answered with status " + strconv.Itoa(o.Transcript.Status)
	}),
}
