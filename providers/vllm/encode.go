package vllm

import (
	"encoding/json"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/envelope"
)

type request struct {
	Model          string          `json:"model"`
	Messages       []envelope.Turn `json:"messages"`
	ResponseFormat *format         `json:"response_format,omitempty"`
	Tools          []envelope.Tool `json:"tools,omitempty"`
	ToolChoice     any             `json:"tool_choice,omitempty"`
	Temperature    *json.Number    `json:"temperature,omitempty"`
	MaxTokens      *int64          `json:"max_completion_tokens,omitempty"`
	Seed           *int64          `json:"seed,omitempty"`
	Stop           []string        `json:"stop,omitempty"`
	Stream         bool            `json:"stream,omitempty"`
	StreamOptions  *streamOptions  `json:"stream_options,omitempty"`
}

type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

type format struct {
	Type       string `json:"type"`
	JSONSchema struct {
		Name   string          `json:"name"`
		Schema json.RawMessage `json:"schema"`
	} `json:"json_schema"`
}

type toolChoice struct {
	Type     string `json:"type"`
	Function struct {
		Name string `json:"name"`
	} `json:"function"`
}

// Encode implements wire.Adapter: POST {base}/chat/completions. The grammar is
// always enforced, so there is no strict to ask for.
func (Chat) Encode(p providers.Profile, r providers.Request) (providers.HTTPRequest, error) {
	q := request{
		Model: envelope.Model(p, r), Messages: envelope.Turns(r),
		Temperature: r.Temperature, MaxTokens: r.MaxOutputTokens, Seed: r.Seed, Stop: r.Stop, Stream: r.Stream,
	}
	if r.Stream {
		q.StreamOptions = &streamOptions{IncludeUsage: true}
	}
	if r.Mode == providers.ModeTool {
		q.Tools = envelope.Tools(r, nil)
		named := toolChoice{Type: "function"}
		named.Function.Name = r.ToolName
		if q.ToolChoice = any(named); r.ToolOptional {
			q.ToolChoice = "auto"
		}
	} else {
		q.ResponseFormat = &format{Type: "json_schema"}
		q.ResponseFormat.JSONSchema.Name = envelope.SchemaName(r)
		q.ResponseFormat.JSONSchema.Schema = r.Schema
	}
	return envelope.Post(p, envelope.Stream(r), q, "chat/completions")
}
