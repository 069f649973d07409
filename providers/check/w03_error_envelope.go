package check

import (
	"strconv"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/wire"
)

// w03 sends a body that is no JSON and demands an error that says so: a 4xx
// status, the error object of the protocol with its type, and the id of the
// request where the vendor documents one. An error that comes as a success, here
// or at any other time, is rejected too.
var w03 = Check{
	ID: "W03", Title: "an error has an error status, the protocol's error object and the id of the request",
	Kind: Deterministic, Severity: Must, Probes: []Probe{BadRequest, Base, Other},
	judge: func(r *Run, t *tally) {
		expect(BadRequest, errorEnvelope)(r, t)
		for _, o := range r.of(Base, Other) {
			if o.owner == t.check.ID {
				t.byOwner(o)
			}
		}
	},
}

func errorEnvelope(r *Run, o *Observation) (bool, string) {
	if s := o.Transcript.Status; s < 400 || s > 499 {
		return false, "a request that is no JSON was answered with status " + strconv.Itoa(s)
	}
	f := wire.Failure(o.Transcript)
	switch {
	case f == nil || f.Message == "":
		return false, "the error object of the protocol is missing or says nothing"
	case typed[r.Protocol] && f.Type == "" && f.Code == "":
		return false, "the error object has neither a type nor a code"
	}
	for _, name := range requestID[r.Protocol] {
		if o.Transcript.Header.Get(name) != "" {
			return true, ""
		}
	}
	if len(requestID[r.Protocol]) > 0 {
		return false, "no header states the id of the request"
	}
	return true, ""
}

// typed are the protocols whose error objects state a type, code or status.
var typed = map[providers.Protocol]bool{
	providers.OpenAIChat: true, providers.OpenAIResponses: true, providers.AnthropicMessages: true, providers.Gemini: true,
	providers.BedrockConverse: true, providers.VLLMChat: true, providers.LlamaCppChat: true,
}

// requestID are the headers by which vendors name a request, where they document
// one.
var requestID = map[providers.Protocol][]string{
	providers.OpenAIChat:        {"X-Request-Id"},
	providers.OpenAIResponses:   {"X-Request-Id"},
	providers.AnthropicMessages: {"Request-Id"},
	providers.BedrockConverse:   {"X-Amzn-Requestid"},
}
