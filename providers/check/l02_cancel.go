package check

import "github.com/interlock-harness/interlock/providers"

// l02 goes away in the middle of an answer. The attempt is unknown then, whatever
// had come so far, and the work on it must end: the server, which alone can see
// that, says so. In mode live too the stand-in is asked; a vendor tells nobody.
var l02 = Check{
	ID: "L02", Title: "when the client goes away, the work ends",
	Kind: Deterministic, Severity: Must, Probes: []Probe{Cancel},
	judge: func(r *Run, t *tally) {
		for _, o := range r.of(Cancel) {
			switch {
			case o.Work == WorkNotSeen:
				t.skip(o, "nobody saw what became of the work")
			case o.Work == WorkWentOn:
				t.fail(o, "cancel.ignored", "", "the work went on after the client had gone")
			case o.Judgement.Verdict != providers.Unknown:
				t.fail(o, "cancel.judged", o.Judgement.Place, "half an answer was judged as "+string(o.Judgement.Verdict)+", "+o.Judgement.Reason)
			default:
				t.pass(o)
			}
		}
	},
}
