// Package mistral speaks Mistral chat completions: a Request becomes HTTP bytes,
// a Transcript becomes a Response. No network. Answers have the shape of OpenAI
// Chat Completions, content may be a list of parts.
package mistral

import (
	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/envelope"
	"github.com/interlock-harness/interlock/providers/openai"
)

// Chat is Mistral chat completions.
type Chat struct{}

var ends = envelope.Ends{
	Normal: []string{"stop", "tool_calls"},
	Words:  map[string]providers.FinishClass{"model_length": providers.FinishLength, "error": providers.FinishBroken},
	Marker: "data: " + envelope.Done,
}

// Ends implements wire.Adapter.
func (Chat) Ends() *envelope.Ends { return &ends }

// Decode implements wire.Adapter.
func (Chat) Decode(t providers.Transcript) providers.Response { return openai.DecodeChat(t, &ends) }
