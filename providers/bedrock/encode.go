package bedrock

import (
	"encoding/json"
	"net/url"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/envelope"
)

type request struct {
	System       []text        `json:"system,omitempty"`
	Messages     []message     `json:"messages"`
	Inference    *inference    `json:"inferenceConfig,omitempty"`
	ToolConfig   *toolConfig   `json:"toolConfig,omitempty"`
	OutputConfig *outputConfig `json:"outputConfig,omitempty"`
}

type text struct {
	Text string `json:"text"`
}

type message struct {
	Role    string `json:"role"`
	Content []text `json:"content"`
}

type inference struct {
	MaxTokens   *int64       `json:"maxTokens,omitempty"`
	Temperature *json.Number `json:"temperature,omitempty"`
	Stop        []string     `json:"stopSequences,omitempty"`
}

type toolConfig struct {
	Tools  []tool     `json:"tools"`
	Choice toolChoice `json:"toolChoice"`
}

type tool struct {
	Spec struct {
		Name        string `json:"name"`
		Description string `json:"description,omitempty"`
		InputSchema struct {
			JSON json.RawMessage `json:"json"`
		} `json:"inputSchema"`
	} `json:"toolSpec"`
}

type toolChoice struct {
	Tool *named    `json:"tool,omitempty"`
	Auto *struct{} `json:"auto,omitempty"`
}

type named struct {
	Name string `json:"name"`
}

type outputConfig struct {
	TextFormat struct {
		Type      string `json:"type"`
		Structure struct {
			JSONSchema struct {
				Schema string `json:"schema"` // a string, not a value
				Name   string `json:"name"`
			} `json:"jsonSchema"`
		} `json:"structure"`
	} `json:"textFormat"`
}

// Encode implements wire.Adapter: POST {base}/model/{model}/converse. There is no
// seed; streams are binary and not spoken.
func (Converse) Encode(p providers.Profile, r providers.Request) (providers.HTTPRequest, error) {
	if err := envelope.Unsupported(providers.BedrockConverse, map[string]bool{"stream": r.Stream, "seed": r.Seed != nil}); err != nil {
		return providers.HTTPRequest{}, err
	}
	q := request{Messages: []message{{"user", []text{{r.User}}}}}
	if r.System != "" {
		q.System = []text{{r.System}}
	}
	if r.MaxOutputTokens != nil || r.Temperature != nil || len(r.Stop) > 0 {
		q.Inference = &inference{r.MaxOutputTokens, r.Temperature, r.Stop}
	}
	if r.Mode == providers.ModeTool {
		var t tool
		t.Spec.Name, t.Spec.Description, t.Spec.InputSchema.JSON = r.ToolName, r.ToolDescription, r.Schema
		q.ToolConfig = &toolConfig{Tools: []tool{t}}
		if q.ToolConfig.Choice.Tool = (&named{r.ToolName}); r.ToolOptional {
			q.ToolConfig.Choice = toolChoice{Auto: &struct{}{}}
		}
	} else {
		schema, err := envelope.JSON(r.Schema)
		if err != nil {
			return providers.HTTPRequest{}, err
		}
		q.OutputConfig = &outputConfig{}
		q.OutputConfig.TextFormat.Type = "json_schema"
		q.OutputConfig.TextFormat.Structure.JSONSchema.Schema = string(schema)
		q.OutputConfig.TextFormat.Structure.JSONSchema.Name = envelope.SchemaName(r)
	}
	return envelope.Post(p, nil, q, "model", url.PathEscape(envelope.Model(p, r)), "converse")
}
