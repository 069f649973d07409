// Package openai speaks OpenAI Chat Completions and OpenAI Responses: a Request
// becomes HTTP bytes, a Transcript becomes a Response. No network.
//
// The chat half is also what vLLM, llama.cpp, Azure, OpenRouter and other
// compatible servers speak, so their habits are read here too: unknown fields,
// usage chunks without choices, error objects in a 200.
package openai

import (
	"strconv"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/envelope"
	"github.com/interlock-harness/interlock/providers/strictjson"
)

// Chat is OpenAI Chat Completions.
type Chat struct{}

// Ends says how chat completions end.
var chatEnds = envelope.Ends{
	Normal: []string{"stop", "tool_calls"},
	Marker: "data: " + envelope.Done,
}

// Ends implements wire.Adapter.
func (Chat) Ends() *envelope.Ends { return &chatEnds }

// Decode implements wire.Adapter.
func (Chat) Decode(t providers.Transcript) providers.Response { return DecodeChat(t, &chatEnds) }

// DecodeChat reads chat completions of any server that words its ends as ends says.
func DecodeChat(t providers.Transcript, ends *envelope.Ends) providers.Response {
	var b envelope.Builder
	if envelope.Streamed(t) {
		chosen := int64(-1)
		b.Events(t, func(_ string, data strictjson.Raw) { chatChunk(&b, data, ends, &chosen) })
		return b.Response()
	}
	root, why := envelope.Body(t, true)
	if root == nil {
		b.Unreadable(why)
		return b.Response()
	}
	if f := envelope.Stated(root, true); f != nil {
		b.Fail(f)
	}
	if root.IsArray() && b.Response().Failure == nil {
		b.Unreadable("the body is no JSON object")
	}
	choices := chatCommon(&b, root)
	choice, at := firstChoice(choices)
	chatChoice(&b, choice, "message", at, ends, func(i int, c strictjson.Raw, where string) {
		call := providers.ToolCall{Place: where}
		chatCall(&call, c)
		b.AppendCall(call)
	})
	return b.Response()
}

// chatCommon reads what a body and a chunk share and returns the choices.
func chatCommon(b *envelope.Builder, root strictjson.Raw) (choices strictjson.Raw) {
	for k, v := range root.Members() {
		switch string(k) {
		case "choices":
			choices = v
		case "model":
			b.Model(v, "/model")
		case "temperature":
			b.Temperature(v, "/temperature")
		case "usage":
			b.Usage(v.Get("prompt_tokens"), v.Get("completion_tokens"), v.Get("total_tokens"), "/usage/completion_tokens")
		}
	}
	return choices
}

// firstChoice is the choice that counts: that with index 0, else the first.
func firstChoice(choices strictjson.Raw) (strictjson.Raw, string) {
	for i, c := range choices.Elements() {
		if n, ok := c.Get("index").Int(); ok && n == 0 {
			return c, "/choices/" + strconv.Itoa(i)
		}
	}
	return choices.At(0), "/choices/0"
}

func chatChunk(b *envelope.Builder, data strictjson.Raw, ends *envelope.Ends, chosen *int64) {
	for i, c := range chatCommon(b, data).Elements() {
		index, _ := c.Get("index").Int() // an absent index is 0
		if *chosen < 0 {
			*chosen = index
		}
		if index != *chosen {
			continue
		}
		chatChoice(b, c, "delta", "/choices/"+strconv.Itoa(i), ends, func(_ int, piece strictjson.Raw, where string) {
			n, ok := piece.Get("index").Int()
			if !ok {
				b.Malformed("a piece of a tool call has no numeric index")
				return
			}
			call := b.Call(n, providers.ArgumentsString, where)
			chatCall(call, piece)
		})
	}
}

// chatChoice reads one choice, whose message stands under the given name.
func chatChoice(b *envelope.Builder, choice strictjson.Raw, name, at string, ends *envelope.Ends, call func(int, strictjson.Raw, string)) {
	for k, v := range choice.Members() {
		switch string(k) {
		case "error":
			if f := envelope.Stated(choice, false); f != nil {
				f.Place = at + f.Place
				b.Fail(f)
			}
		case "finish_reason":
			b.Finish(v, ends, at+"/finish_reason")
		case name:
			for k, m := range v.Members() {
				switch string(k) {
				case "content":
					b.Texts(m, at+"/"+name+"/content")
				case "refusal":
					b.Refuse(m, at+"/"+name+"/refusal")
				case "tool_calls":
					for i, c := range m.Elements() {
						call(i, c, at+"/"+name+"/tool_calls/"+strconv.Itoa(i))
					}
				}
			}
		}
	}
}

// chatCall reads a tool call, or a piece of one.
func chatCall(call *providers.ToolCall, c strictjson.Raw) {
	function := c.Get("function")
	envelope.Name(call, c.Get("id"), function.Get("name"))
	arguments := function.Get("arguments")
	switch {
	case call.Encoding == providers.ArgumentsInvalid:
	case arguments.IsString() || arguments.Present() || call.Encoding == "":
		envelope.Arguments(call, arguments)
	}
}
