package check

import (
	"fmt"

	"github.com/interlock-harness/interlock/providers/statistics"
)

// f06 leaves it to the model whether to call the tool of the contract, and compares
// with the primary on the same cases. It is no fixed percentage: the primary is
// asked twice, its agreement with itself is the bar, and the candidate may lose as
// many points to it as the contract allows (non-inferiority). The F1 of calls has
// an exact lower bound; McNemar's test tells the direction.
var f06 = Check{
	ID: "F06", Title: "where the model is free to call, it calls as the primary does",
	Kind: Statistical, Severity: Should, Probes: []Probe{Trigger},
	judge: func(r *Run, t *tally) {
		first, self := r.primaryCalls()
		if len(first) == 0 {
			t.reason = "no primary to compare with"
			return
		}
		var both, candidateOnly, primaryOnly int
		for _, o := range r.of(Trigger) {
			primary, known := first[o.Case]
			called := len(o.Response.Calls) > 0
			switch {
			case !known:
				t.skip(o, "the primary did not answer")
			case !called && (o.lost || o.owner != "" && r.common[o.owner]):
				t.skip(o, "hidden by "+orTransport(o))
			case called && primary:
				both++
				t.pass(o)
			case called:
				candidateOnly++
				t.fail(o, "tool.over_trigger", "", "called, and the primary does not")
			case primary:
				primaryOnly++
				t.fail(o, "tool.under_trigger", "", "not called, and the primary does")
			}
		}
		bar := self - r.Delta/100
		t.bound(statistics.LowerF1(both, candidateOnly, primaryOnly, statistics.Confidence), bar)
		t.reason = fmt.Sprintf("calls agree in %d cases, only the candidate calls in %d, only the primary in %d (McNemar p = %.3f); "+
			"F1 is %.3f, the primary's with itself %.3f, and %g points may be lost",
			both, candidateOnly, primaryOnly, statistics.McNemar(candidateOnly, primaryOnly),
			statistics.F1(both, candidateOnly, primaryOnly), self, r.Delta)
	},
}

// primaryCalls are the cases in which the primary called when it was asked first,
// and its agreement with itself, as F1, over two askings.
func (r *Run) primaryCalls() (first map[string]bool, self float64) {
	first = map[string]bool{}
	again := map[string]bool{}
	for _, o := range r.Primary {
		if !o.ok() {
			continue
		}
		called := len(o.Response.Calls) > 0
		if o.Repeat == 1 {
			first[o.Case] = called
		} else {
			again[o.Case] = called
		}
	}
	var both, one, two int
	for k, a := range first {
		b, twice := again[k]
		switch {
		case !twice:
		case a && b:
			both++
		case a:
			one++
		case b:
			two++
		}
	}
	return first, statistics.F1(both, one, two)
}
