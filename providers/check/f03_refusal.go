package check

import (
	"strings"

	"github.com/interlock-harness/interlock/providers"
)

// f03 demands that a refusal cannot be taken for content: by the protocol's own
// sign where it has one, else by not being output of the contract.
var f03 = Check{
	ID: "F03", Title: "a refusal cannot be taken for content",
	Kind: Deterministic, Severity: Must, Probes: []Probe{Refusal},
	judge: expect(Refusal, func(r *Run, o *Observation) (bool, string) {
		if o.Judgement.Reason == "stop.refusal" || o.Judgement.Reason == "stop.content_filter" {
			return true, ""
		}
		if refuses[r.Protocol] {
			return false, "the model declined and the answer was read as " + string(o.Judgement.Verdict) + ", " + o.Judgement.Reason
		}
		if family(o) == "json" || family(o) == "tool" || family(o) == "envelope" {
			return true, ""
		}
		return false, "the model declined in the form of the contract"
	}),
}

// refuses are the protocols with a sign of their own for a refusal.
var refuses = map[providers.Protocol]bool{
	providers.OpenAIChat: true, providers.OpenAIResponses: true, providers.AnthropicMessages: true, providers.BedrockConverse: true,
	providers.Gemini: true,
}

func family(o *Observation) string {
	f, _, _ := strings.Cut(o.Judgement.Reason, ".")
	return f
}
