// Package cohere speaks Cohere chat, version 2: a Request becomes HTTP bytes, a
// Transcript becomes a Response. No network. Answers do not name the model.
package cohere

import (
	"strconv"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/envelope"
	"github.com/interlock-harness/interlock/providers/strictjson"
)

// Chat is Cohere v2 chat.
type Chat struct{}

var ends = envelope.Ends{
	Normal: []string{"COMPLETE", "TOOL_CALL"},
	Words: map[string]providers.FinishClass{
		"MAX_TOKENS": providers.FinishLength, "ERROR": providers.FinishBroken,
		"ERROR_LIMIT": providers.FinishLength, "ERROR_TOXIC": providers.FinishFilter,
	},
	Marker: "event message-end",
}

// Ends implements wire.Adapter.
func (Chat) Ends() *envelope.Ends { return &ends }

// Decode implements wire.Adapter.
func (Chat) Decode(t providers.Transcript) providers.Response {
	var b envelope.Builder
	if envelope.Streamed(t) {
		b.Events(t, func(kind string, data strictjson.Raw) { event(&b, kind, data) })
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
	for k, v := range root.Members() {
		switch string(k) {
		case "model":
			b.Model(v, "/model")
		case "temperature":
			b.Temperature(v, "/temperature")
		case "finish_reason":
			b.Finish(v, &ends, "/finish_reason")
		case "usage":
			usage(&b, v, "/usage")
		case "message":
			b.Texts(v.Get("content"), "/message/content")
			for i, c := range v.Get("tool_calls").Elements() {
				call := providers.ToolCall{Place: "/message/tool_calls/" + strconv.Itoa(i)}
				envelope.Name(&call, c.Get("id"), c.Get("function").Get("name"))
				envelope.Arguments(&call, c.Get("function").Get("arguments"))
				b.AppendCall(call)
			}
		}
	}
	return b.Response()
}

// usage prefers the tokens that the model made over those on the bill.
func usage(b *envelope.Builder, v strictjson.Raw, at string) {
	unit := "tokens"
	if !v.Get(unit).IsObject() {
		unit = "billed_units"
	}
	u := v.Get(unit)
	b.Usage(u.Get("input_tokens"), u.Get("output_tokens"), nil, at+"/"+unit+"/output_tokens")
}

func event(b *envelope.Builder, kind string, data strictjson.Raw) {
	if t := data.Get("type"); t.IsString() {
		kind = t.Text()
	}
	delta := data.Get("delta")
	message := delta.Get("message")
	switch kind {
	case "content-start", "content-delta":
		content := message.Get("content")
		if t := content.Get("type").Text(); t == "" || t == "text" {
			b.Text(content.Get("text"), "/delta/message/content/text")
		}
	case "tool-call-start", "tool-call-delta":
		index, ok := data.Get("index").Int()
		if !ok {
			b.Malformed("a piece of a tool call has no numeric index")
			return
		}
		piece := message.Get("tool_calls")
		call := b.Call(index, providers.ArgumentsString, "/delta/message/tool_calls")
		envelope.Name(call, piece.Get("id"), piece.Get("function").Get("name"))
		if arguments := piece.Get("function").Get("arguments"); arguments.Present() && call.Encoding == providers.ArgumentsString {
			envelope.Arguments(call, arguments)
		}
	case "message-end":
		b.Finish(delta.Get("finish_reason"), &ends, "/delta/finish_reason")
		usage(b, delta.Get("usage"), "/delta/usage")
		if message := delta.Get("error"); message.IsString() && len(message) > 2 {
			b.Fail(&providers.Failure{Message: message.Text(), Place: "/delta/error"})
		}
		b.Marker()
	}
}
