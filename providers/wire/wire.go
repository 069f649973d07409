// Package wire is the table of adapters by protocol. An adapter turns a Request
// into HTTP bytes and a Transcript into a Response, and says in one place how its
// answers end. A new protocol is one folder beside this one and one line here.
package wire

import (
	"fmt"
	"slices"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/anthropic"
	"github.com/interlock-harness/interlock/providers/bedrock"
	"github.com/interlock-harness/interlock/providers/cohere"
	"github.com/interlock-harness/interlock/providers/envelope"
	"github.com/interlock-harness/interlock/providers/gemini"
	"github.com/interlock-harness/interlock/providers/llamacpp"
	"github.com/interlock-harness/interlock/providers/mistral"
	"github.com/interlock-harness/interlock/providers/ollama"
	"github.com/interlock-harness/interlock/providers/openai"
	"github.com/interlock-harness/interlock/providers/vllm"
)

// Adapter speaks one protocol. It keeps no state and does no input or output.
type Adapter interface {
	// Encode writes the request. A parameter that the protocol has no field for is
	// a *providers.UnsupportedError.
	Encode(providers.Profile, providers.Request) (providers.HTTPRequest, error)
	// Decode reads an answer with a 2xx status. It never fails: what cannot be
	// read is said in the Response.
	Decode(providers.Transcript) providers.Response
	// Ends says which words and markers end an answer.
	Ends() *envelope.Ends
}

// Background is an adapter of a protocol that does work in the background and
// keeps it under an id (Profile.Background).
type Background interface {
	Adapter
	// Retrieve asks how the work of that id stands. An id that cannot be one is an
	// error.
	Retrieve(p providers.Profile, id string) (providers.HTTPRequest, error)
	// Cancel asks to stop that work. It may be repeated; it is answered with how the
	// work stands.
	Cancel(p providers.Profile, id string) (providers.HTTPRequest, error)
	// Kept reads which work an answer is about, also one that is not complete yet.
	Kept(providers.Transcript) providers.Kept
}

var adapters = map[providers.Protocol]Adapter{
	providers.OpenAIChat:        openai.Chat{},
	providers.OpenAIResponses:   openai.Responses{},
	providers.AnthropicMessages: anthropic.Messages{},
	providers.Gemini:            gemini.GenerateContent{},
	providers.MistralChat:       mistral.Chat{},
	providers.CohereChat:        cohere.Chat{},
	providers.BedrockConverse:   bedrock.Converse{},
	providers.OllamaChat:        ollama.Chat{},
	providers.VLLMChat:          vllm.Chat{},
	providers.LlamaCppChat:      llamacpp.Chat{},
}

// Protocols lists the protocols that have an adapter, sorted.
func Protocols() []providers.Protocol {
	var names []providers.Protocol
	for p := range adapters {
		names = append(names, p)
	}
	slices.Sort(names)
	return names
}

// For returns the adapter of a protocol.
func For(p providers.Protocol) (Adapter, error) {
	a, ok := adapters[p]
	if !ok {
		return nil, fmt.Errorf("no adapter for protocol %q", p)
	}
	return a, nil
}

// BackgroundFor returns the adapter of a protocol that can do work in the
// background.
func BackgroundFor(p providers.Protocol) (Background, bool) {
	a, ok := adapters[p].(Background)
	return a, ok
}

// Encode writes the request of the profile's protocol.
func Encode(p providers.Profile, r providers.Request) (providers.HTTPRequest, error) {
	a, err := For(p.Protocol)
	if err != nil {
		return providers.HTTPRequest{}, err
	}
	return a.Encode(p, r)
}

// Decode reads an answer with a 2xx status. The answer of an unknown protocol is
// unreadable.
func Decode(t providers.Transcript) providers.Response {
	a, err := For(t.Protocol)
	if err != nil {
		return providers.Response{Unreadable: err.Error()}
	}
	return a.Decode(t)
}

// Failure returns the failure that the body of an answer with any status states,
// or nil where it states none or is no JSON.
func Failure(t providers.Transcript) *providers.Failure {
	root, why := envelope.Body(t, true)
	if why != "" {
		return nil
	}
	f := envelope.Stated(root, true)
	if f != nil && f.Type == "" {
		f.Type = t.Header.Get("X-Amzn-Errortype")
	}
	return f
}
