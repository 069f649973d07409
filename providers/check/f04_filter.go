package check

import (
	"github.com/interlock-harness/interlock/providers"
)

// f04 demands that a filter which leaves nothing is stated, in the protocol's own
// words where it has them; an empty success is not enough there.
var f04 = Check{
	ID: "F04", Title: "an answer that a filter took away is called filtered",
	Kind: Deterministic, Severity: Must, Probes: []Probe{Filter},
	judge: expect(Filter, func(r *Run, o *Observation) (bool, string) {
		switch {
		case o.Judgement.Reason == "stop.content_filter" || o.Judgement.Reason == "stop.refusal":
			return true, ""
		case !filters[r.Protocol] && o.Judgement.Verdict == providers.Reject: // no word for it, and nothing was accepted
			return true, ""
		}
		return false, "a filter left nothing and the answer was read as " + string(o.Judgement.Verdict) + ", " + o.Judgement.Reason
	}),
}

// filters are the protocols with a word for a filter.
var filters = map[providers.Protocol]bool{
	providers.OpenAIChat: true, providers.OpenAIResponses: true, providers.AnthropicMessages: true, providers.Gemini: true,
	providers.BedrockConverse: true, providers.CohereChat: true,
}
