package anthropic

import (
	"encoding/json"
	"maps"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/envelope"
)

// DefaultMaxTokens is sent where the request names no cap: this protocol, alone
// of all, requires one.
const DefaultMaxTokens = 4096

// Version is the anthropic-version that the adapter was written for; a profile
// may name another.
const Version = "2023-06-01"

type request struct {
	Model        string          `json:"model"`
	MaxTokens    int64           `json:"max_tokens"`
	System       string          `json:"system,omitempty"`
	Messages     []envelope.Turn `json:"messages"`
	OutputConfig *outputConfig   `json:"output_config,omitempty"`
	Tools        []tool          `json:"tools,omitempty"`
	ToolChoice   *toolChoice     `json:"tool_choice,omitempty"`
	Temperature  *json.Number    `json:"temperature,omitempty"`
	Stop         []string        `json:"stop_sequences,omitempty"`
	Stream       bool            `json:"stream,omitempty"`
}

type outputConfig struct {
	Format struct {
		Type   string          `json:"type"`
		Schema json.RawMessage `json:"schema"`
	} `json:"format"`
}

type tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	InputSchema json.RawMessage `json:"input_schema"`
	Strict      bool            `json:"strict"`
}

type toolChoice struct {
	Type            string `json:"type"`
	Name            string `json:"name,omitempty"`
	DisableParallel bool   `json:"disable_parallel_tool_use"`
}

// Encode implements wire.Adapter: POST {base}/v1/messages. The API has no seed.
func (Messages) Encode(p providers.Profile, r providers.Request) (providers.HTTPRequest, error) {
	if err := envelope.Unsupported(providers.AnthropicMessages, map[string]bool{"seed": r.Seed != nil}); err != nil {
		return providers.HTTPRequest{}, err
	}
	q := request{
		Model: envelope.Model(p, r), MaxTokens: DefaultMaxTokens, System: r.System,
		Messages:    []envelope.Turn{{Role: "user", Content: r.User}},
		Temperature: r.Temperature, Stop: r.Stop, Stream: r.Stream,
	}
	if r.MaxOutputTokens != nil {
		q.MaxTokens = *r.MaxOutputTokens
	}
	if r.Mode == providers.ModeTool {
		q.Tools = []tool{{r.ToolName, r.ToolDescription, r.Schema, true}}
		if q.ToolChoice = (&toolChoice{"tool", r.ToolName, true}); r.ToolOptional {
			q.ToolChoice = &toolChoice{"auto", "", true}
		}
	} else {
		q.OutputConfig = &outputConfig{}
		q.OutputConfig.Format.Type = "json_schema"
		q.OutputConfig.Format.Schema = r.Schema
	}
	header := map[string]string{"Anthropic-Version": Version}
	maps.Copy(header, envelope.Stream(r))
	return envelope.Post(p, header, q, "v1/messages")
}
