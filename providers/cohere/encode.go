package cohere

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
	StrictTools    bool            `json:"strict_tools,omitempty"`
	ToolChoice     string          `json:"tool_choice,omitempty"`
	Temperature    *json.Number    `json:"temperature,omitempty"`
	MaxTokens      *int64          `json:"max_tokens,omitempty"`
	Seed           *int64          `json:"seed,omitempty"`
	Stop           []string        `json:"stop_sequences,omitempty"`
	Stream         bool            `json:"stream"`
}

type format struct {
	Type       string          `json:"type"`
	JSONSchema json.RawMessage `json:"json_schema"`
}

// Encode implements wire.Adapter: POST {base}/v2/chat.
func (Chat) Encode(p providers.Profile, r providers.Request) (providers.HTTPRequest, error) {
	q := request{
		Model: envelope.Model(p, r), Messages: envelope.Turns(r),
		Temperature: r.Temperature, MaxTokens: r.MaxOutputTokens, Seed: r.Seed, Stop: r.Stop, Stream: r.Stream,
	}
	if r.Mode == providers.ModeTool {
		if q.Tools, q.StrictTools = envelope.Tools(r, nil), true; !r.ToolOptional {
			q.ToolChoice = "REQUIRED"
		}
	} else {
		q.ResponseFormat = &format{"json_object", r.Schema}
	}
	return envelope.Post(p, envelope.Stream(r), q, "v2/chat")
}
