package standin

import (
	"encoding/json"
	"net/http"
	"strings"
)

// anthropic is Anthropic Messages (POST .../messages).
type anthropic struct{}

type messagesRequest struct {
	Model       string          `json:"model"`
	MaxTokens   *int64          `json:"max_tokens"`
	System      json.RawMessage `json:"system"`
	Messages    []chatMessage   `json:"messages"`
	Stream      bool            `json:"stream"`
	Temperature json.Number     `json:"temperature"`
	Stop        []string        `json:"stop_sequences"`
	Tools       []struct {
		Name        string          `json:"name"`
		InputSchema json.RawMessage `json:"input_schema"`
	} `json:"tools"`
	ToolChoice struct {
		Type string `json:"type"`
	} `json:"tool_choice"`
	OutputConfig struct {
		Format struct {
			Schema json.RawMessage `json:"schema"`
		} `json:"format"`
	} `json:"output_config"`
	OutputFormat struct {
		Schema json.RawMessage `json:"schema"`
	} `json:"output_format"`
}

var messagesFields = fields(`model max_tokens system messages stream temperature top_p top_k stop_sequences tools
	tool_choice output_config output_format metadata service_tier thinking container context_management mcp_servers
	cache_control inference_geo speed diagnostics`)

func (anthropic) read(r *http.Request, data []byte) (Ask, *Failure) {
	if !strings.HasSuffix(r.URL.Path, "/messages") {
		return Ask{}, notFound(r)
	}
	var q messagesRequest
	if f := decode(data, &q, messagesFields); f != nil {
		return Ask{}, f
	}
	switch {
	case q.MaxTokens == nil:
		return Ask{}, badRequest("max_tokens: Field required")
	case len(q.Messages) == 0:
		return Ask{}, badRequest("messages: at least one message is required")
	}
	a := Ask{
		Model: q.Model, System: plainText(q.System), Stream: q.Stream, Temperature: q.Temperature.String(),
		MaxOutputTokens: q.MaxTokens, Stop: q.Stop, Schema: q.OutputConfig.Format.Schema,
	}
	if a.Schema == nil {
		a.Schema = q.OutputFormat.Schema
	}
	for _, m := range q.Messages {
		if m.Role == "system" {
			return Ask{}, badRequest("messages: role system is not allowed, use the top-level system parameter")
		}
		a.User = join(a.User, plainText(m.Content))
	}
	for _, t := range q.Tools {
		a.Tools = append(a.Tools, t.Name)
		if a.Schema == nil {
			a.Schema = t.InputSchema
		}
	}
	a.ToolForced = len(a.Tools) > 0 && (q.ToolChoice.Type == "any" || q.ToolChoice.Type == "tool")
	return a, nil
}

var messagesFinish = map[Finish]string{
	FinishStop: "end_turn", FinishTool: "tool_use", FinishLength: "max_tokens", FinishFilter: "refusal", FinishRefusal: "refusal",
}

func (anthropic) reply(a Ask, m Message) Reply {
	finish := m.end(messagesFinish)
	if !a.Stream {
		return body(http.StatusOK, compact(object{
			"id": m.ID, "type": "message", "role": "assistant", "model": m.Model, "content": messagesContent(m),
			"stop_reason": finish, "stop_sequence": nil,
			"usage": m.stated(object{"input_tokens": m.Input, "output_tokens": m.Output}),
		}))
	}
	event := func(name string, data object) Piece {
		data["type"] = name
		return Piece{Event: name, Data: string(compact(data))}
	}
	events := []Piece{
		event("message_start", object{"message": object{
			"id": m.ID, "type": "message", "role": "assistant", "model": m.Model, "content": []any{},
			"stop_reason": nil, "stop_sequence": nil, "usage": m.stated(object{"input_tokens": m.Input, "output_tokens": 1}),
		}}),
		event("ping", object{}),
	}
	block := 0
	say := func(start object, kind, field, text string) {
		events = append(events, event("content_block_start", object{"index": block, "content_block": start}))
		for _, part := range m.pieces(text) {
			p := event("content_block_delta", object{"index": block, "delta": object{"type": kind, field: part}})
			p.Delta = true
			events = append(events, p)
		}
		events = append(events, event("content_block_stop", object{"index": block}))
		block++
	}
	if m.Reasoning != "" {
		say(object{"type": "thinking", "thinking": "", "signature": ""}, "thinking_delta", "thinking", m.Reasoning)
	}
	if text := m.Text + m.Refusal; text != "" {
		say(object{"type": "text", "text": ""}, "text_delta", "text", text)
	}
	for _, c := range m.Calls {
		say(object{"type": "tool_use", "id": c.ID, "name": c.Name, "input": object{}}, "input_json_delta", "partial_json", c.Arguments)
	}
	end := event("message_delta", object{
		"delta": object{"stop_reason": finish, "stop_sequence": nil}, "usage": m.stated(object{"output_tokens": m.Output}),
	})
	end.Finish = true
	marker := event("message_stop", object{})
	marker.Marker = true
	return stream(append(events, end, marker))
}

func messagesContent(m Message) []any {
	content := []any{}
	if m.Reasoning != "" {
		content = append(content, object{"type": "thinking", "thinking": m.Reasoning, "signature": "c3RhbmRpbg=="})
	}
	if text := m.Text + m.Refusal; text != "" {
		content = append(content, object{"type": "text", "text": text})
	}
	for _, c := range m.Calls {
		content = append(content, object{"type": "tool_use", "id": c.ID, "name": c.Name, "input": value(c.Arguments)})
	}
	return content
}

var messagesErrors = map[int]string{
	400: "invalid_request_error", 401: "authentication_error", 403: "permission_error", 404: "not_found_error",
	413: "request_too_large", 429: "rate_limit_error", 500: "api_error", 504: "timeout_error", 529: "overloaded_error",
}

func (anthropic) failure(f Failure) Reply {
	reply := body(f.Status, compact(messagesError(f)))
	if f.RetryAfter != "" {
		reply.Header.Set("Retry-After", f.RetryAfter)
	}
	return reply
}

func (anthropic) broken(f Failure) Piece {
	return Piece{Event: "error", Data: string(compact(messagesError(f)))}
}

func messagesError(f Failure) object {
	kind := f.Code
	if kind == "" {
		if kind = messagesErrors[f.Status]; kind == "" {
			kind = "api_error"
		}
	}
	return object{"type": "error", "error": object{"type": kind, "message": f.Message}, "request_id": "req_standin"}
}
