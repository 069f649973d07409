package mistral

import (
	"encoding/json"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/envelope"
)

type request struct {
	Model             string          `json:"model"`
	Messages          []envelope.Turn `json:"messages"`
	ResponseFormat    *format         `json:"response_format,omitempty"`
	Tools             []envelope.Tool `json:"tools,omitempty"`
	ToolChoice        any             `json:"tool_choice,omitempty"`
	ParallelToolCalls *bool           `json:"parallel_tool_calls,omitempty"`
	Temperature       *json.Number    `json:"temperature,omitempty"`
	MaxTokens         *int64          `json:"max_tokens,omitempty"`
	Seed              *int64          `json:"random_seed,omitempty"`
	Stop              []string        `json:"stop,omitempty"`
	Stream            bool            `json:"stream,omitempty"`
}

type format struct {
	Type       string `json:"type"`
	JSONSchema struct {
		Name   string          `json:"name"`
		Schema json.RawMessage `json:"schema"`
		Strict bool            `json:"strict"`
	} `json:"json_schema"`
}

// Encode implements wire.Adapter: POST {base}/chat/completions.
func (Chat) Encode(p providers.Profile, r providers.Request) (providers.HTTPRequest, error) {
	q := request{
		Model: envelope.Model(p, r), Messages: envelope.Turns(r),
		Temperature: r.Temperature, MaxTokens: r.MaxOutputTokens, Seed: r.Seed, Stop: r.Stop, Stream: r.Stream,
	}
	if r.Mode == providers.ModeTool {
		parallel := false
		q.Tools = envelope.Tools(r, nil)
		q.ToolChoice = envelope.NamedTool(r)
		q.ParallelToolCalls = &parallel
	} else {
		q.ResponseFormat = &format{Type: "json_schema"}
		q.ResponseFormat.JSONSchema.Name = envelope.SchemaName(r)
		q.ResponseFormat.JSONSchema.Schema = r.Schema
		q.ResponseFormat.JSONSchema.Strict = true
	}
	return envelope.Post(p, envelope.Stream(r), q, "chat/completions")
}
