package check

// x01 rejects providers that send the key back, plainly or in a form that is
// easily turned back. The call has blotted it out already, so that no transcript
// holds it.
var x01 = Check{
	ID: "X01", Title: "the key that was sent comes back nowhere",
	Kind: Deterministic, Severity: Must, Probes: []Probe{Base, Other, BadRequest, WrongModel},
	judge: func(r *Run, t *tally) {
		if !r.Keyed {
			t.reason = "no key was sent"
			return
		}
		for _, o := range r.Observations {
			if o.Transcript.Leaked {
				t.fail(o, "secret.echoed", "", "the key that was sent stands in the answer")
				continue
			}
			t.pass(o)
		}
	},
}
