package standin

import (
	"encoding/json"
	"net/http"
	"strings"
)

// cohere is Cohere chat, version 2 (POST .../v2/chat).
type cohere struct{}

type cohereRequest struct {
	Model          string        `json:"model"`
	Messages       []chatMessage `json:"messages"`
	Stream         bool          `json:"stream"`
	Temperature    json.Number   `json:"temperature"`
	MaxTokens      *int64        `json:"max_tokens"`
	Stop           []string      `json:"stop_sequences"`
	Tools          []chatTool    `json:"tools"`
	ToolChoice     string        `json:"tool_choice"`
	ResponseFormat struct {
		JSONSchema json.RawMessage `json:"json_schema"`
	} `json:"response_format"`
}

var cohereFields = fields(`model messages stream temperature max_tokens stop_sequences tools tool_choice strict_tools
	response_format documents citation_options safety_mode seed frequency_penalty presence_penalty k p logprobs thinking
	priority raw_prompting`)

func (cohere) read(r *http.Request, data []byte) (Ask, *Failure) {
	if !strings.HasSuffix(r.URL.Path, "/v2/chat") {
		return Ask{}, notFound(r)
	}
	var q cohereRequest
	if f := decode(data, &q, cohereFields); f != nil {
		return Ask{}, f
	}
	if len(q.Messages) == 0 {
		return Ask{}, badRequest("messages: at least one message is required")
	}
	a := Ask{
		Model: q.Model, Stream: q.Stream, Temperature: q.Temperature.String(), MaxOutputTokens: q.MaxTokens, Stop: q.Stop,
		Schema: q.ResponseFormat.JSONSchema,
	}
	for _, m := range q.Messages {
		if m.Role == "system" {
			a.System = join(a.System, plainText(m.Content))
		} else {
			a.User = join(a.User, plainText(m.Content))
		}
	}
	for _, t := range q.Tools {
		a.Tools = append(a.Tools, t.Function.Name)
		if a.Schema == nil {
			a.Schema = t.Function.Parameters
		}
	}
	a.ToolForced = len(a.Tools) > 0 && q.ToolChoice == "REQUIRED"
	return a, nil
}

var cohereFinish = map[Finish]string{
	FinishStop: "COMPLETE", FinishTool: "TOOL_CALL", FinishLength: "MAX_TOKENS", FinishFilter: "ERROR_TOXIC", FinishRefusal: "COMPLETE",
}

func (cohere) reply(a Ask, m Message) Reply {
	if m.Refusal != "" { // no field for it
		m.Text, m.Refusal = m.Text+m.Refusal, ""
	}
	usage := m.stated(object{
		"billed_units": object{"input_tokens": m.Input, "output_tokens": m.Output},
		"tokens":       object{"input_tokens": m.Input, "output_tokens": m.Output},
	})
	if !a.Stream {
		message := object{"role": "assistant"}
		content := []any{}
		if m.Reasoning != "" {
			content = append(content, object{"type": "thinking", "thinking": m.Reasoning})
		}
		if m.Text != "" {
			content = append(content, object{"type": "text", "text": m.Text})
		}
		message["content"] = content
		if len(m.Calls) > 0 {
			message["tool_calls"] = chatCalls(m.Calls, false)
		}
		return body(http.StatusOK, compact(object{"id": m.ID, "finish_reason": m.end(cohereFinish), "message": message, "usage": usage}))
	}
	event := func(name string, data object) Piece {
		data["type"] = name
		return Piece{Event: name, Data: string(compact(data))}
	}
	events := []Piece{event("message-start", object{"id": m.ID, "delta": object{"message": object{"role": "assistant", "content": []any{}, "tool_calls": []any{}}}})}
	index := 0
	say := func(kind, text string) {
		if text == "" {
			return
		}
		inside := func(o object) object { return object{"message": object{"content": o}} }
		events = append(events, event("content-start", object{"index": index, "delta": inside(object{"type": kind, kind: ""})}))
		for _, part := range m.pieces(text) {
			p := event("content-delta", object{"index": index, "delta": inside(object{kind: part})})
			p.Delta = true
			events = append(events, p)
		}
		events = append(events, event("content-end", object{"index": index}))
		index++
	}
	say("thinking", m.Reasoning)
	say("text", m.Text)
	for i, c := range m.Calls {
		calls := func(o object) object { return object{"message": object{"tool_calls": o}} }
		p := event("tool-call-start", object{"index": i, "delta": calls(chatCalls([]ToolCall{{ID: c.ID, Name: c.Name}}, false)[0].(object))})
		p.Delta = true
		events = append(events, p)
		for _, part := range m.pieces(c.Arguments) {
			p := event("tool-call-delta", object{"index": i, "delta": calls(object{"function": object{"arguments": part}})})
			p.Delta = true
			events = append(events, p)
		}
		events = append(events, event("tool-call-end", object{"index": i}))
	}
	end := event("message-end", object{"delta": object{"finish_reason": m.end(cohereFinish), "usage": usage}})
	end.Finish, end.Marker = true, true
	// The API ends with [DONE], too (cohere-ai/cohere-python#730), and without it the
	// SDK for Go takes the end of any stream for an error.
	return stream(append(events, end, Piece{Data: "[DONE]", Marker: true}))
}

func (cohere) failure(f Failure) Reply {
	reply := body(f.Status, compact(object{"id": "standin", "message": f.Message}))
	if f.RetryAfter != "" {
		reply.Header.Set("Retry-After", f.RetryAfter)
	}
	return reply
}

func (cohere) broken(f Failure) Piece {
	return Piece{Event: "message-end", Data: string(compact(object{
		"type": "message-end", "delta": object{"finish_reason": "ERROR", "error": f.Message},
	}))}
}
