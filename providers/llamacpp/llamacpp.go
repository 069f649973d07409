// Package llamacpp speaks the OpenAI-like chat completions of llama.cpp's server: a
// Request becomes HTTP bytes, a Transcript becomes a Response. No network. Answers
// have the shape of OpenAI Chat Completions, with timings beside it. The native
// /completion endpoint has other words (stop_type, truncated) and is not spoken.
package llamacpp

import (
	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/envelope"
	"github.com/interlock-harness/interlock/providers/openai"
)

// Chat is llama.cpp's chat completions.
type Chat struct{}

var ends = envelope.Ends{
	Normal: []string{"stop", "tool_calls"},
	Marker: "data: " + envelope.Done,
}

// Ends implements wire.Adapter.
func (Chat) Ends() *envelope.Ends { return &ends }

// Decode implements wire.Adapter.
func (Chat) Decode(t providers.Transcript) providers.Response { return openai.DecodeChat(t, &ends) }
