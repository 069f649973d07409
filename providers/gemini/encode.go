package gemini

import (
	"encoding/json"
	"net/url"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/envelope"
)

type request struct {
	System     *content    `json:"systemInstruction,omitempty"`
	Contents   []content   `json:"contents"`
	Tools      []tool      `json:"tools,omitempty"`
	ToolConfig *toolConfig `json:"toolConfig,omitempty"`
	Generation generation  `json:"generationConfig"`
}

type content struct {
	Role  string `json:"role,omitempty"`
	Parts []part `json:"parts"`
}

type part struct {
	Text string `json:"text"`
}

type tool struct {
	Functions []function `json:"functionDeclarations"`
}

type function struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Schema      json.RawMessage `json:"parametersJsonSchema"`
}

type toolConfig struct {
	Calling struct {
		Mode    string   `json:"mode"`
		Allowed []string `json:"allowedFunctionNames,omitempty"`
	} `json:"functionCallingConfig"`
}

type generation struct {
	MimeType    string          `json:"responseMimeType,omitempty"`
	Schema      json.RawMessage `json:"responseJsonSchema,omitempty"`
	Temperature *json.Number    `json:"temperature,omitempty"`
	MaxTokens   *int64          `json:"maxOutputTokens,omitempty"`
	Seed        *int64          `json:"seed,omitempty"`
	Stop        []string        `json:"stopSequences,omitempty"`
}

// Encode implements wire.Adapter: POST {base}/models/{model}:generateContent, or
// :streamGenerateContent?alt=sse. The base URL holds the version.
func (GenerateContent) Encode(p providers.Profile, r providers.Request) (providers.HTTPRequest, error) {
	q := request{
		Contents:   []content{{Role: "user", Parts: []part{{r.User}}}},
		Generation: generation{Temperature: r.Temperature, MaxTokens: r.MaxOutputTokens, Seed: r.Seed, Stop: r.Stop},
	}
	if r.System != "" {
		q.System = &content{Parts: []part{{r.System}}}
	}
	if r.Mode == providers.ModeTool {
		q.Tools = []tool{{[]function{{r.ToolName, r.ToolDescription, r.Schema}}}}
		q.ToolConfig = &toolConfig{}
		if q.ToolConfig.Calling.Mode = "AUTO"; !r.ToolOptional {
			q.ToolConfig.Calling.Mode = "ANY"
			q.ToolConfig.Calling.Allowed = []string{r.ToolName}
		}
	} else {
		q.Generation.MimeType = "application/json"
		q.Generation.Schema = r.Schema
	}
	method := ":generateContent"
	if r.Stream {
		method = ":streamGenerateContent"
	}
	h, err := envelope.Post(p, envelope.Stream(r), q, "models", url.PathEscape(bare(envelope.Model(p, r)))+method)
	if err == nil && r.Stream {
		u, _ := url.Parse(h.URL) // as Post has just written it
		query := u.Query()
		query.Set("alt", "sse")
		u.RawQuery = query.Encode()
		h.URL = u.String()
	}
	return h, err
}
