package check

import (
	"github.com/interlock-harness/interlock/providers"
)

// r03 rejects providers that give one request the answer to another one. Requests
// run side by side; an answer that is wrong for its own case and right for another
// case of the run belongs to that one.
var r03 = Check{
	ID: "R03", Title: "requests that run side by side never share content",
	Kind: Deterministic, Severity: Must, Probes: []Probe{Base, Other},
	judge: owned(Base, Other),
}

// crossTalk moves faults of content to r03 where the output is the accepted
// output of another case.
func (r *Run) crossTalk() {
	right := map[string]string{} // canonical output -> case
	for _, o := range r.of(Base) {
		if o.Judgement.Verdict == providers.Accept {
			right[canonical(o.Judgement.Output)] = o.Case
		}
	}
	for _, o := range r.of(Base, Other) {
		if o.owner != "B01" && o.owner != "B02" && o.owner != "B03" && o.owner != "B04" {
			continue
		}
		if of, ok := right[canonical(said(o))]; ok && of != o.Case {
			o.owner = "R03"
			o.Judgement.Detail = "this is the answer to case " + of
		}
	}
}
