package standin

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
)

// openAIChat is OpenAI Chat Completions (POST .../chat/completions).
type openAIChat struct{}

type chatRequest struct {
	Model               string          `json:"model"`
	Messages            []chatMessage   `json:"messages"`
	Stream              bool            `json:"stream"`
	Temperature         json.Number     `json:"temperature"`
	MaxTokens           *int64          `json:"max_tokens"`
	MaxCompletionTokens *int64          `json:"max_completion_tokens"`
	Stop                json.RawMessage `json:"stop"`
	StreamOptions       struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
	ResponseFormat struct {
		Type       string `json:"type"`
		JSONSchema struct {
			Schema json.RawMessage `json:"schema"`
		} `json:"json_schema"`
	} `json:"response_format"`
	Tools      []chatTool      `json:"tools"`
	ToolChoice json.RawMessage `json:"tool_choice"`
}

type chatMessage struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
}

type chatTool struct {
	Function struct {
		Name       string          `json:"name"`
		Parameters json.RawMessage `json:"parameters"`
	} `json:"function"`
}

// chatFields are the request fields that the vendor documents; another one is
// refused, never dropped.
var chatFields = fields(`model messages stream stream_options temperature top_p n stop seed
	max_tokens max_completion_tokens response_format tools tool_choice parallel_tool_calls
	store metadata service_tier user presence_penalty frequency_penalty logit_bias logprobs
	top_logprobs reasoning_effort modalities audio prediction safety_identifier prompt_cache_key
	random_seed prompt_mode safe_prompt verbosity web_search_options functions function_call
	prompt_cache_retention prompt_cache_options moderation`)

func (openAIChat) read(r *http.Request, body []byte) (Ask, *Failure) {
	if !strings.HasSuffix(r.URL.Path, "/chat/completions") {
		return Ask{}, notFound(r)
	}
	var q chatRequest
	if f := decode(body, &q, chatFields); f != nil {
		return Ask{}, f
	}
	if len(q.Messages) == 0 {
		return Ask{}, badRequest("messages: at least one message is required")
	}
	a := Ask{Model: q.Model, Stream: q.Stream, Temperature: q.Temperature.String(), Schema: q.ResponseFormat.JSONSchema.Schema}
	for _, m := range q.Messages {
		switch text := plainText(m.Content); m.Role {
		case "system", "developer":
			a.System = join(a.System, text)
		default:
			a.User = join(a.User, text)
		}
	}
	for _, t := range q.Tools {
		a.Tools = append(a.Tools, t.Function.Name)
		if a.Schema == nil {
			a.Schema = t.Function.Parameters
		}
	}
	a.ToolForced = len(a.Tools) > 0 && !isOneOf(q.ToolChoice, "", `"auto"`, `"none"`)
	if a.MaxOutputTokens = q.MaxCompletionTokens; a.MaxOutputTokens == nil {
		a.MaxOutputTokens = q.MaxTokens
	}
	a.Stop = oneOrMany(q.Stop)
	return a, nil
}

var chatFinish = map[Finish]string{
	FinishStop: "stop", FinishTool: "tool_calls", FinishLength: "length", FinishFilter: "content_filter", FinishRefusal: "stop",
}

func (openAIChat) reply(a Ask, m Message) Reply {
	usage := m.stated(object{"prompt_tokens": m.Input, "completion_tokens": m.Output, "total_tokens": m.total()})
	if !a.Stream {
		message := object{"role": "assistant", "content": nullable(m.Text), "refusal": nullable(m.Refusal)}
		if m.Reasoning != "" {
			message["reasoning_content"] = m.Reasoning
		}
		if len(m.Calls) > 0 {
			message["tool_calls"] = chatCalls(m.Calls, false)
		}
		return body(http.StatusOK, compact(object{
			"id": m.ID, "object": "chat.completion", "created": created, "model": m.Model, "usage": usage,
			"system_fingerprint": m.Build,
			"choices":            []any{object{"index": 0, "message": message, "logprobs": nil, "finish_reason": m.end(chatFinish)}},
		}))
	}
	chunk := func(choices []any, usage any) string {
		return string(compact(object{
			"id": m.ID, "object": "chat.completion.chunk", "created": created, "model": m.Model, "system_fingerprint": m.Build,
			"choices": choices, "usage": usage,
		}))
	}
	delta := func(d object, finish any) []any {
		return []any{object{"index": 0, "delta": d, "logprobs": nil, "finish_reason": finish}}
	}
	events := []Piece{{Data: chunk(delta(object{"role": "assistant", "content": ""}, nil), nil)}}
	say := func(field, text string) {
		for _, part := range m.pieces(text) {
			events = append(events, Piece{Data: chunk(delta(object{field: part}, nil), nil), Delta: true})
		}
	}
	say("reasoning_content", m.Reasoning)
	say("content", m.Text)
	say("refusal", m.Refusal)
	for i, c := range m.Calls {
		first := chatCalls([]ToolCall{{ID: c.ID, Name: c.Name}}, true)
		first[0].(object)["index"] = i
		events = append(events, Piece{Data: chunk(delta(object{"tool_calls": first}, nil), nil), Delta: true})
		for _, part := range m.pieces(c.Arguments) {
			more := []any{object{"index": i, "function": object{"arguments": part}}}
			events = append(events, Piece{Data: chunk(delta(object{"tool_calls": more}, nil), nil), Delta: true})
		}
	}
	return stream(append(events,
		Piece{Data: chunk(delta(object{}, m.end(chatFinish)), nil), Finish: true},
		Piece{Data: chunk([]any{}, usage)},
		Piece{Data: "[DONE]", Marker: true},
	))
}

func chatCalls(calls []ToolCall, indexed bool) []any {
	var out []any
	for i, c := range calls {
		call := object{"id": c.ID, "type": "function", "function": object{"name": c.Name, "arguments": c.Arguments}}
		if indexed {
			call["index"] = i
		}
		out = append(out, call)
	}
	return out
}

func (openAIChat) failure(f Failure) Reply {
	reply := body(f.Status, compact(object{"error": chatError(f)}))
	if f.RetryAfter != "" {
		reply.Header.Set("Retry-After", f.RetryAfter)
	}
	return reply
}

func (openAIChat) broken(f Failure) Piece {
	return Piece{Data: string(compact(object{"error": chatError(f)}))}
}

func chatError(f Failure) object {
	kind, code := "invalid_request_error", any(nil)
	switch {
	case f.Status == http.StatusTooManyRequests:
		kind, code = "rate_limit_error", "rate_limit_exceeded"
	case f.Status >= 500:
		kind, code = "server_error", strconv.Itoa(f.Status)
	}
	if f.Code != "" {
		code = f.Code
	}
	return object{"message": f.Message, "type": kind, "param": nil, "code": code}
}

// created is the one time that stand-ins state, 2026-11-21T10:40:00Z.
const created = 1795257600
