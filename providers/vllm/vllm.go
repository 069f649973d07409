// Package vllm speaks the chat completions of vLLM's OpenAI-compatible server: a
// Request becomes HTTP bytes, a Transcript becomes a Response. No network. Answers
// have the shape of OpenAI Chat Completions; the engine has further words for an
// end that nobody asked for.
package vllm

import (
	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/envelope"
	"github.com/interlock-harness/interlock/providers/openai"
)

// Chat is vLLM's chat completions.
type Chat struct{}

// The engine says stop, length, abort, error and repetition; the server turns a stop
// with calls into tool_calls. Whatever stop_reason says beside them (a token, a stop
// string) is no end of its own.
var ends = envelope.Ends{
	Normal: []string{"stop", "tool_calls"},
	Words: map[string]providers.FinishClass{
		"abort": providers.FinishBroken, "error": providers.FinishBroken,
		"repetition": providers.FinishLength, // stopped because it went round in circles: what there is, is cut
	},
	Marker: "data: " + envelope.Done,
}

// Ends implements wire.Adapter.
func (Chat) Ends() *envelope.Ends { return &ends }

// Decode implements wire.Adapter.
func (Chat) Decode(t providers.Transcript) providers.Response { return openai.DecodeChat(t, &ends) }
