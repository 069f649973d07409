package check

import (
	"github.com/interlock-harness/interlock/providers"
)

// w06 demands that a failure after status 200 comes as the protocol's error
// event, so that it is a stated failure and what came before it is dropped.
var w06 = Check{
	ID: "W06", Title: "a failure in the middle of a stream is stated, and leaves no partial success",
	Kind: Deterministic, Severity: Must, Probes: []Probe{MidStream},
	judge: expect(MidStream, func(_ *Run, o *Observation) (bool, string) {
		if o.Judgement.Verdict == providers.DefiniteFailure && o.Judgement.Reason == "error.mid_stream" {
			return true, ""
		}
		return false, "the stream broke off and was read as " + string(o.Judgement.Verdict) + ", " + o.Judgement.Reason
	}),
}
