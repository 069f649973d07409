package openai

import (
	"encoding/json"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/envelope"
)

var yes, no = true, false

type chatRequest struct {
	Model             string                  `json:"model"`
	Messages          []envelope.Turn         `json:"messages"`
	ResponseFormat    *schemaFormat           `json:"response_format,omitempty"`
	Tools             []envelope.Tool         `json:"tools,omitempty"`
	ToolChoice        any                     `json:"tool_choice,omitempty"`
	ParallelToolCalls *bool                   `json:"parallel_tool_calls,omitempty"`
	Temperature       *json.Number            `json:"temperature,omitempty"`
	MaxTokens         *int64                  `json:"max_completion_tokens,omitempty"`
	Seed              *int64                  `json:"seed,omitempty"`
	Stop              []string                `json:"stop,omitempty"`
	Stream            bool                    `json:"stream,omitempty"`
	StreamOptions     *envelope.StreamOptions `json:"stream_options,omitempty"`
}

type schemaFormat struct {
	Type       string `json:"type"`
	JSONSchema named  `json:"json_schema"`
}

type named struct {
	Name   string          `json:"name"`
	Schema json.RawMessage `json:"schema"`
	Strict bool            `json:"strict"`
}

// Encode implements wire.Adapter: POST {base}/chat/completions.
func (Chat) Encode(p providers.Profile, r providers.Request) (providers.HTTPRequest, error) {
	q := chatRequest{
		Model: envelope.Model(p, r), Messages: envelope.Turns(r),
		Temperature: r.Temperature, MaxTokens: r.MaxOutputTokens, Seed: r.Seed, Stop: r.Stop, Stream: r.Stream, StreamOptions: envelope.StreamUsage(r),
	}
	if r.Mode == providers.ModeTool {
		q.Tools = envelope.Tools(r, &yes)
		q.ToolChoice = envelope.NamedTool(r)
		q.ParallelToolCalls = &no
	} else {
		q.ResponseFormat = &schemaFormat{"json_schema", named{envelope.SchemaName(r), r.Schema, true}}
	}
	return envelope.Post(p, envelope.Stream(r), q, "chat/completions")
}

type responsesRequest struct {
	Model             string       `json:"model"`
	Instructions      string       `json:"instructions,omitempty"`
	Input             string       `json:"input"`
	Text              *textFormat  `json:"text,omitempty"`
	Tools             []flatTool   `json:"tools,omitempty"`
	ToolChoice        any          `json:"tool_choice,omitempty"`
	ParallelToolCalls *bool        `json:"parallel_tool_calls,omitempty"`
	Temperature       *json.Number `json:"temperature,omitempty"`
	MaxTokens         *int64       `json:"max_output_tokens,omitempty"`
	Stream            bool         `json:"stream,omitempty"`
	Store             bool         `json:"store"` // background work is kept, other answers are not
	Background        bool         `json:"background,omitempty"`
}

type textFormat struct {
	Format struct {
		Type string `json:"type"`
		named
	} `json:"format"`
}

type flatTool struct {
	Type string `json:"type"`
	envelope.Function
}

type flatToolChoice struct {
	Type string `json:"type"`
	Name string `json:"name"`
}

// Encode implements wire.Adapter: POST {base}/responses. The API has no seed and
// no stop sequences.
func (Responses) Encode(p providers.Profile, r providers.Request) (providers.HTTPRequest, error) {
	if err := envelope.Unsupported(providers.OpenAIResponses, map[string]bool{"seed": r.Seed != nil, "stop": len(r.Stop) > 0}); err != nil {
		return providers.HTTPRequest{}, err
	}
	q := responsesRequest{
		Model: envelope.Model(p, r), Instructions: r.System, Input: r.User,
		Temperature: r.Temperature, MaxTokens: r.MaxOutputTokens, Stream: r.Stream,
		Store: p.Background, Background: p.Background,
	}
	if r.Mode == providers.ModeTool {
		q.Tools = []flatTool{{"function", envelope.Tools(r, &yes)[0].Function}}
		if q.ToolChoice = any(flatToolChoice{"function", r.ToolName}); r.ToolOptional {
			q.ToolChoice = "auto"
		}
		q.ParallelToolCalls = &no
	} else {
		q.Text = &textFormat{}
		q.Text.Format.Type = "json_schema"
		q.Text.Format.named = named{envelope.SchemaName(r), r.Schema, true}
	}
	return envelope.Post(p, envelope.Stream(r), q, "responses")
}
