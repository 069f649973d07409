package standin

import (
	"encoding/json"
	"net/http"
	"strings"
)

// openAIResponses is OpenAI Responses (POST .../responses).
type openAIResponses struct{}

type responsesRequest struct {
	Model           string          `json:"model"`
	Instructions    string          `json:"instructions"`
	Input           json.RawMessage `json:"input"`
	Stream          bool            `json:"stream"`
	Background      bool            `json:"background"`
	Store           *bool           `json:"store"`
	Temperature     json.Number     `json:"temperature"`
	MaxOutputTokens *int64          `json:"max_output_tokens"`
	Text            struct {
		Format struct {
			Schema json.RawMessage `json:"schema"`
		} `json:"format"`
	} `json:"text"`
	Tools []struct {
		Name       string          `json:"name"`
		Parameters json.RawMessage `json:"parameters"`
	} `json:"tools"`
	ToolChoice json.RawMessage `json:"tool_choice"`
}

var responsesFields = fields(`model instructions input stream temperature top_p max_output_tokens text tools tool_choice
	parallel_tool_calls store metadata background previous_response_id reasoning truncation include user service_tier
	stream_options max_tool_calls prompt conversation safety_identifier prompt_cache_key top_logprobs prompt_cache_retention
	prompt_cache_options moderation image access_programs context_management`)

func (openAIResponses) read(r *http.Request, data []byte) (Ask, *Failure) {
	if !strings.HasSuffix(r.URL.Path, "/responses") {
		return Ask{}, notFound(r)
	}
	var q responsesRequest
	if f := decode(data, &q, responsesFields); f != nil {
		return Ask{}, f
	}
	a := Ask{
		Model: q.Model, System: q.Instructions, Stream: q.Stream, Background: q.Background, Temperature: q.Temperature.String(),
		MaxOutputTokens: q.MaxOutputTokens, Schema: q.Text.Format.Schema,
	}
	var turns []chatMessage
	if json.Unmarshal(q.Input, &turns) == nil {
		for _, m := range turns {
			switch m.Role {
			case "system", "developer":
				a.System = join(a.System, plainText(m.Content))
			default:
				a.User = join(a.User, plainText(m.Content))
			}
		}
	} else {
		a.User = plainText(q.Input)
	}
	if a.User == "" {
		return Ask{}, badRequest("input: required")
	}
	if q.Background && q.Store != nil && !*q.Store {
		return Ask{}, badRequest("background: requires store")
	}
	for _, t := range q.Tools {
		a.Tools = append(a.Tools, t.Name)
		if a.Schema == nil {
			a.Schema = t.Parameters
		}
	}
	a.ToolForced = len(a.Tools) > 0 && !isOneOf(q.ToolChoice, "", `"auto"`, `"none"`)
	return a, nil
}

func (openAIResponses) reply(a Ask, m Message) Reply {
	items := responsesItems(m)
	whole := responsesObject(a, m, items)
	if !a.Stream {
		return body(http.StatusOK, compact(whole))
	}
	number := 0
	event := func(name string, data object) Piece {
		data["type"], data["sequence_number"] = name, number
		number++
		return Piece{Event: name, Data: string(compact(data))}
	}
	begun := responsesObject(a, m, nil)
	begun["status"], begun["usage"], begun["output"], begun["incomplete_details"] = "in_progress", nil, []any{}, nil
	events := []Piece{event("response.created", object{"response": begun}), event("response.in_progress", object{"response": begun})}
	for i, item := range items {
		events = append(events, event("response.output_item.added", object{"output_index": i, "item": started(item)}))
		say := func(name, text string, more object) {
			for _, part := range m.pieces(text) {
				data := object{"output_index": i, "item_id": item["id"], "delta": part}
				for k, v := range more {
					data[k] = v
				}
				p := event(name, data)
				p.Delta = true
				events = append(events, p)
			}
		}
		switch item["type"] {
		case "function_call":
			say("response.function_call_arguments.delta", item["arguments"].(string), nil)
			events = append(events, event("response.function_call_arguments.done",
				object{"output_index": i, "item_id": item["id"], "arguments": item["arguments"]}))
		case "message":
			for n, c := range item["content"].([]any) {
				part := c.(object)
				if part["type"] == "refusal" {
					say("response.refusal.delta", part["refusal"].(string), object{"content_index": n})
					continue
				}
				say("response.output_text.delta", part["text"].(string), object{"content_index": n, "logprobs": []any{}})
				events = append(events, event("response.output_text.done",
					object{"output_index": i, "content_index": n, "item_id": item["id"], "text": part["text"], "logprobs": []any{}}))
			}
		}
		events = append(events, event("response.output_item.done", object{"output_index": i, "item": item}))
	}
	name := "response.completed"
	if whole["status"] == "incomplete" {
		name = "response.incomplete"
	}
	end := event(name, object{"response": whole})
	end.Finish, end.Marker = true, true
	return stream(append(events, end))
}

// started is an item before anything of it has come.
func started(item object) object {
	first := object{"id": item["id"], "type": item["type"], "status": "in_progress"}
	switch item["type"] {
	case "function_call":
		first["call_id"], first["name"], first["arguments"] = item["call_id"], item["name"], ""
	case "message":
		first["role"], first["content"] = "assistant", []any{}
	}
	return first
}

func responsesItems(m Message) []object {
	var items []object
	if m.Reasoning != "" {
		items = append(items, object{"id": m.ID + "-r", "type": "reasoning", "summary": []any{object{"type": "summary_text", "text": m.Reasoning}}})
	}
	var content []any
	if m.Text != "" {
		content = append(content, object{"type": "output_text", "text": m.Text, "annotations": []any{}, "logprobs": []any{}})
	}
	if m.Refusal != "" {
		content = append(content, object{"type": "refusal", "refusal": m.Refusal})
	}
	if content != nil {
		items = append(items, object{"id": m.ID + "-m", "type": "message", "role": "assistant", "status": "completed", "content": content})
	}
	for _, c := range m.Calls {
		items = append(items, object{"id": m.ID + "-f", "type": "function_call", "status": "completed", "call_id": c.ID, "name": c.Name, "arguments": c.Arguments})
	}
	return items
}

func responsesObject(a Ask, m Message, items []object) object {
	output := []any{}
	for _, i := range items {
		output = append(output, i)
	}
	o := object{
		"id": m.ID, "object": "response", "created_at": created, "status": "completed", "model": m.Model, "error": nil,
		"incomplete_details": nil, "output": output, "parallel_tool_calls": false, "store": false, "truncation": "disabled",
		"usage": m.stated(object{"input_tokens": m.Input, "output_tokens": m.Output, "total_tokens": m.total()}),
	}
	if a.Temperature != "" {
		o["temperature"] = json.Number(a.Temperature)
	}
	switch m.Finish {
	case FinishLength:
		o["status"], o["incomplete_details"] = "incomplete", object{"reason": "max_output_tokens"}
	case FinishFilter:
		o["status"], o["incomplete_details"] = "incomplete", object{"reason": "content_filter"}
	}
	if m.Word != "" {
		o["status"], o["incomplete_details"] = m.Word, nil
	}
	return o
}

// standing is a response without its output, before its end.
func (openAIResponses) standing(id string, a Ask, status string) Reply {
	o := responsesObject(a, Message{ID: id, Model: a.Model, Finish: FinishStop}, nil)
	o["status"], o["usage"], o["background"], o["store"] = status, nil, true, true
	return body(http.StatusOK, compact(o))
}

func (openAIResponses) failure(f Failure) Reply { return openAIChat{}.failure(f) }

func (openAIResponses) broken(f Failure) Piece {
	e := chatError(f)
	return Piece{Event: "error", Data: string(compact(object{
		"type": "error", "code": e["code"], "message": e["message"], "param": nil, "sequence_number": 99,
	}))}
}
