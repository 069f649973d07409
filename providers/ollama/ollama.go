// Package ollama speaks Ollama chat: a Request becomes HTTP bytes, a Transcript
// becomes a Response. No network. Streams are JSON lines, not events; done says
// that the last one has come.
package ollama

import (
	"strconv"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/envelope"
	"github.com/interlock-harness/interlock/providers/strictjson"
)

// Chat is Ollama chat.
type Chat struct{}

var ends = envelope.Ends{
	Normal: []string{"stop"},
	Words:  map[string]providers.FinishClass{"load": providers.FinishAbnormal, "unload": providers.FinishAbnormal},
	Marker: `a line with "done": true`,
}

// Ends implements wire.Adapter.
func (Chat) Ends() *envelope.Ends { return &ends }

// Decode implements wire.Adapter.
func (Chat) Decode(t providers.Transcript) providers.Response {
	var b envelope.Builder
	if envelope.ContentType(t) == "text/event-stream" { // some gateways wrap the lines
		b.Events(t, func(_ string, data strictjson.Raw) { line(&b, data) })
		return b.Response()
	}
	if t.Request.Stream {
		b.Lines(t, func(data strictjson.Raw) { line(&b, data) })
		return b.Response()
	}
	root, why := envelope.Body(t, true)
	if root == nil {
		b.Unreadable(why)
		return b.Response()
	}
	if f := envelope.Stated(root, true); f != nil {
		b.Fail(f)
	} else if root.IsArray() {
		b.Unreadable("the body is no JSON object")
	}
	line(&b, root)
	return b.Response()
}

func line(b *envelope.Builder, data strictjson.Raw) {
	var done bool
	var reason strictjson.Raw
	for k, v := range data.Members() {
		switch string(k) {
		case "model":
			b.Model(v, "/model")
		case "temperature":
			b.Temperature(v, "/temperature")
		case "done":
			done = string(v) == "true"
		case "done_reason":
			reason = v
		case "message":
			b.Texts(v.Get("content"), "/message/content")
			for i, c := range v.Get("tool_calls").Elements() {
				call := providers.ToolCall{Place: "/message/tool_calls/" + strconv.Itoa(i)}
				envelope.Name(&call, c.Get("id"), c.Get("function").Get("name"))
				envelope.Object(&call, c.Get("function").Get("arguments"))
				b.AppendCall(call)
			}
		}
	}
	if done {
		b.Marker()
		b.Finish(reason, &ends, "/done_reason")
		b.Usage(data.Get("prompt_eval_count"), data.Get("eval_count"), nil, "/eval_count")
	}
}
