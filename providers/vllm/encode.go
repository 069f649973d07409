package vllm

import (
	"encoding/json"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/envelope"
)

type request struct {
	Model          string                  `json:"model"`
	Messages       []envelope.Turn         `json:"messages"`
	ResponseFormat *format                 `json:"response_format,omitempty"`
	Tools          []envelope.Tool         `json:"tools,omitempty"`
	ToolChoice     any                     `json:"tool_choice,omitempty"`
	Temperature    *json.Number            `json:"temperature,omitempty"`
	MaxTokens      *int64                  `json:"max_completion_tokens,omitempty"`
	Seed           *int64                  `json:"seed,omitempty"`
	Stop           []string                `json:"stop,omitempty"`
	Stream         bool                    `json:"stream,omitempty"`
	StreamOptions  *envelope.StreamOptions `json:"stream_options,omitempty"`
}

type format struct {
	Type       string `json:"type"`
	JSONSchema struct {
		Name   string          `json:"name"`
		Schema json.RawMessage `json:"schema"`
	} `json:"json_schema"`
}

// Encode implements wire.Adapter: POST {base}/chat/completions. The grammar is
// always enforced, so there is no strict to ask for.
func (Chat) Encode(p providers.Profile, r providers.Request) (providers.HTTPRequest, error) {
	q := request{
		Model: envelope.Model(p, r), Messages: envelope.Turns(r),
		Temperature: r.Temperature, MaxTokens: r.MaxOutputTokens, Seed: r.Seed, Stop: r.Stop, Stream: r.Stream, StreamOptions: envelope.StreamUsage(r),
	}
	if r.Mode == providers.ModeTool {
		q.Tools = envelope.Tools(r, nil)
		q.ToolChoice = envelope.NamedTool(r)
	} else {
		q.ResponseFormat = &format{Type: "json_schema"}
		q.ResponseFormat.JSONSchema.Name = envelope.SchemaName(r)
		q.ResponseFormat.JSONSchema.Schema = r.Schema
	}
	return envelope.Post(p, envelope.Stream(r), q, "chat/completions")
}
