package standin

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
)

// bedrock is Bedrock Converse in its JSON form (POST .../model/MODEL/converse).
type bedrock struct{}

type bedrockRequest struct {
	System   []bedrockText `json:"system"`
	Messages []struct {
		Content []bedrockText `json:"content"`
	} `json:"messages"`
	Inference struct {
		MaxTokens   *int64      `json:"maxTokens"`
		Temperature json.Number `json:"temperature"`
		Stop        []string    `json:"stopSequences"`
	} `json:"inferenceConfig"`
	ToolConfig struct {
		Tools []struct {
			Spec struct {
				Name        string `json:"name"`
				InputSchema struct {
					JSON json.RawMessage `json:"json"`
				} `json:"inputSchema"`
			} `json:"toolSpec"`
		} `json:"tools"`
		Choice map[string]json.RawMessage `json:"toolChoice"`
	} `json:"toolConfig"`
	OutputConfig struct {
		TextFormat struct {
			Structure struct {
				JSONSchema struct {
					Schema string `json:"schema"`
				} `json:"jsonSchema"`
			} `json:"structure"`
		} `json:"textFormat"`
	} `json:"outputConfig"`
}

type bedrockText struct {
	Text string `json:"text"`
}

var bedrockFields = fields(`system messages inferenceConfig toolConfig outputConfig guardrailConfig additionalModelRequestFields
	additionalModelResponseFieldPaths promptVariables requestMetadata performanceConfig serviceTier`)

func (bedrock) read(r *http.Request, data []byte) (Ask, *Failure) {
	_, rest, _ := strings.Cut(r.URL.EscapedPath(), "/model/")
	model, ok := strings.CutSuffix(rest, "/converse")
	if !ok {
		return Ask{}, notFound(r)
	}
	model, _ = url.PathUnescape(model)
	var q bedrockRequest
	if f := decode(data, &q, bedrockFields); f != nil {
		return Ask{}, f
	}
	if len(q.Messages) == 0 {
		return Ask{}, badRequest("messages: required")
	}
	a := Ask{
		Model: model, Temperature: q.Inference.Temperature.String(), MaxOutputTokens: q.Inference.MaxTokens, Stop: q.Inference.Stop,
		Schema: []byte(q.OutputConfig.TextFormat.Structure.JSONSchema.Schema),
	}
	for _, s := range q.System {
		a.System = join(a.System, s.Text)
	}
	for _, m := range q.Messages {
		for _, c := range m.Content {
			a.User = join(a.User, c.Text)
		}
	}
	for _, t := range q.ToolConfig.Tools {
		a.Tools = append(a.Tools, t.Spec.Name)
		if len(a.Schema) == 0 {
			a.Schema = t.Spec.InputSchema.JSON
		}
	}
	a.ToolForced = len(a.Tools) > 0 && (q.ToolConfig.Choice["any"] != nil || q.ToolConfig.Choice["tool"] != nil)
	return a, nil
}

var bedrockFinish = map[Finish]string{
	FinishStop: "end_turn", FinishTool: "tool_use", FinishLength: "max_tokens", FinishFilter: "guardrail_intervened", FinishRefusal: "refusal",
}

func (bedrock) reply(_ Ask, m Message) Reply {
	content := []any{}
	if m.Reasoning != "" {
		content = append(content, object{"reasoningContent": object{"reasoningText": object{"text": m.Reasoning}}})
	}
	if text := m.Text + m.Refusal; text != "" {
		content = append(content, object{"text": text})
	}
	for _, c := range m.Calls {
		content = append(content, object{"toolUse": object{"toolUseId": c.ID, "name": c.Name, "input": value(c.Arguments)}})
	}
	return body(http.StatusOK, compact(object{
		"output": object{"message": object{"role": "assistant", "content": content}}, "stopReason": m.end(bedrockFinish),
		"usage": m.stated(object{"inputTokens": m.Input, "outputTokens": m.Output, "totalTokens": m.total()}), "metrics": object{"latencyMs": 1},
	}))
}

var bedrockErrors = map[int]string{
	400: "ValidationException", 403: "AccessDeniedException", 404: "ResourceNotFoundException", 408: "ModelTimeoutException",
	424: "ModelErrorException", 429: "ThrottlingException", 500: "InternalServerException", 503: "ServiceUnavailableException",
}

func (bedrock) failure(f Failure) Reply {
	kind := bedrockErrors[f.Status]
	if kind == "" {
		kind = "InternalServerException"
	}
	reply := body(f.Status, compact(object{"message": f.Message}))
	reply.Header.Set("X-Amzn-Errortype", kind)
	if f.RetryAfter != "" {
		reply.Header.Set("Retry-After", f.RetryAfter)
	}
	return reply
}

func (bedrock) broken(f Failure) Piece { // there are no streams
	return Piece{Raw: compact(object{"message": f.Message})}
}
