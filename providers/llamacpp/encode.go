package llamacpp

import (
	"encoding/json"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/envelope"
)

type request struct {
	Model             string                  `json:"model"`
	Messages          []envelope.Turn         `json:"messages"`
	ResponseFormat    *format                 `json:"response_format,omitempty"`
	Tools             []envelope.Tool         `json:"tools,omitempty"`
	ToolChoice        string                  `json:"tool_choice,omitempty"`
	ParallelToolCalls *bool                   `json:"parallel_tool_calls,omitempty"`
	Temperature       *json.Number            `json:"temperature,omitempty"`
	MaxTokens         *int64                  `json:"max_tokens,omitempty"`
	Seed              *int64                  `json:"seed,omitempty"`
	Stop              []string                `json:"stop,omitempty"`
	Stream            bool                    `json:"stream,omitempty"`
	StreamOptions     *envelope.StreamOptions `json:"stream_options,omitempty"`
}

type format struct {
	Type       string `json:"type"`
	JSONSchema struct {
		Schema json.RawMessage `json:"schema"`
	} `json:"json_schema"`
}

// Encode implements wire.Adapter: POST {base}/chat/completions. A tool cannot be
// required by name: the server takes a word only, and reads an object as auto. With
// one tool on offer, required means that one.
func (Chat) Encode(p providers.Profile, r providers.Request) (providers.HTTPRequest, error) {
	q := request{
		Model: envelope.Model(p, r), Messages: envelope.Turns(r),
		Temperature: r.Temperature, MaxTokens: r.MaxOutputTokens, Seed: r.Seed, Stop: r.Stop, Stream: r.Stream, StreamOptions: envelope.StreamUsage(r),
	}
	if r.Mode == providers.ModeTool {
		parallel := false
		q.Tools, q.ParallelToolCalls = envelope.Tools(r, nil), &parallel
		if q.ToolChoice = "required"; r.ToolOptional {
			q.ToolChoice = "auto"
		}
	} else {
		q.ResponseFormat = &format{Type: "json_schema"}
		q.ResponseFormat.JSONSchema.Schema = r.Schema
	}
	return envelope.Post(p, envelope.Stream(r), q, "chat/completions")
}
