package standin

import (
	"encoding/json"
	"net/http"
	"strings"
)

// ollama is Ollama chat (POST .../api/chat): streams are lines, and streaming is
// the default.
type ollama struct{}

type ollamaRequest struct {
	Model    string          `json:"model"`
	Messages []chatMessage   `json:"messages"`
	Stream   *bool           `json:"stream"`
	Format   json.RawMessage `json:"format"`
	Tools    []chatTool      `json:"tools"`
	Options  struct {
		Temperature json.Number `json:"temperature"`
		NumPredict  *int64      `json:"num_predict"`
		Stop        []string    `json:"stop"`
	} `json:"options"`
}

var ollamaFields = fields(`model messages stream format tools options truncate shift keep_alive think logprobs top_logprobs`)

func (ollama) read(r *http.Request, data []byte) (Ask, *Failure) {
	if !strings.HasSuffix(r.URL.Path, "/api/chat") {
		return Ask{}, notFound(r)
	}
	var q ollamaRequest
	if f := decode(data, &q, ollamaFields); f != nil {
		return Ask{}, f
	}
	if len(q.Messages) == 0 {
		return Ask{}, badRequest("messages: required")
	}
	a := Ask{
		Model: q.Model, Stream: q.Stream == nil || *q.Stream, Temperature: q.Options.Temperature.String(),
		MaxOutputTokens: q.Options.NumPredict, Stop: q.Options.Stop, Schema: q.Format,
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
	a.ToolFree = len(a.Tools) > 0 // a call cannot be required
	return a, nil
}

var ollamaFinish = map[Finish]string{
	FinishStop: "stop", FinishTool: "stop", FinishLength: "length", FinishFilter: "stop", FinishRefusal: "stop",
}

func (ollama) reply(a Ask, m Message) Reply {
	if m.Refusal != "" { // no field for it
		m.Text, m.Refusal = m.Text+m.Refusal, ""
	}
	line := func(message object, done bool) object {
		o := object{"model": m.Model, "created_at": "2026-11-21T10:40:00Z", "message": message, "done": done}
		message["role"] = "assistant"
		if done {
			o["done_reason"] = m.end(ollamaFinish)
			o["total_duration"], o["load_duration"] = 811000000, 2000000
			if !m.NoUsage {
				o["prompt_eval_count"], o["eval_count"] = m.Input, m.Output
			}
		}
		return o
	}
	var calls []any
	for _, c := range m.Calls {
		calls = append(calls, object{"id": c.ID, "function": object{"name": c.Name, "arguments": value(c.Arguments)}})
	}
	if !a.Stream {
		message := object{"content": m.Text}
		if m.Reasoning != "" {
			message["thinking"] = m.Reasoning
		}
		if calls != nil {
			message["tool_calls"] = calls
		}
		return body(http.StatusOK, compact(line(message, true)))
	}
	var lines []Piece
	say := func(message object) {
		lines = append(lines, Piece{Data: string(compact(line(message, false))), Line: true, Delta: true})
	}
	for _, part := range m.pieces(m.Reasoning) {
		say(object{"content": "", "thinking": part})
	}
	for _, part := range m.pieces(m.Text) {
		say(object{"content": part})
	}
	if calls != nil {
		say(object{"content": "", "tool_calls": calls})
	}
	reply := stream(append(lines, Piece{Data: string(compact(line(object{"content": ""}, true))), Line: true, Finish: true, Marker: true}))
	reply.Header.Set("Content-Type", "application/x-ndjson")
	return reply
}

func (ollama) failure(f Failure) Reply {
	reply := body(f.Status, compact(object{"error": f.Message}))
	if f.RetryAfter != "" {
		reply.Header.Set("Retry-After", f.RetryAfter)
	}
	return reply
}

func (ollama) broken(f Failure) Piece {
	return Piece{Data: string(compact(object{"error": f.Message})), Line: true}
}
