package check

import (
	"strconv"

	"github.com/interlock-harness/interlock/providers"
)

// i04 sends a parameter that does not exist. Refused, the mistake is seen; dropped
// without a word, so is any parameter that this provider does not know, and a
// certificate would be about another request than the one that was sent. A stated
// temperature that is not the one asked for belongs here too.
var i04 = Check{
	ID: "I04", Title: "a parameter that is not known is refused, never dropped",
	Kind: Deterministic, Severity: Must, Probes: []Probe{UnknownParameter, Base, Other},
	judge: func(r *Run, t *tally) {
		if lenient[r.Protocol] {
			t.reason = "this protocol passes over unknown parameters by definition"
		} else {
			expect(UnknownParameter, func(_ *Run, o *Observation) (bool, string) {
				if s := o.Transcript.Status; s >= 400 && s <= 499 {
					return true, ""
				}
				return false, "a parameter that does not exist was taken with status " + strconv.Itoa(o.Transcript.Status)
			})(r, t)
		}
		for _, o := range r.of(Base, Other) {
			if o.owner == t.check.ID {
				t.byOwner(o)
			} else if lenient[r.Protocol] {
				t.pass(o)
			}
		}
	},
}

// lenient are the protocols whose servers pass over fields that they do not know.
var lenient = map[providers.Protocol]bool{providers.OllamaChat: true, providers.CohereChat: true, providers.VLLMChat: true, providers.LlamaCppChat: true}
