// Package anthropic speaks Anthropic Messages: a Request becomes HTTP bytes, a
// Transcript becomes a Response. No network.
package anthropic

import (
	"strconv"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/envelope"
	"github.com/interlock-harness/interlock/providers/strictjson"
)

// Messages is Anthropic Messages.
type Messages struct{}

var ends = envelope.Ends{
	Normal: []string{"end_turn", "stop_sequence", "tool_use"},
	Marker: "event message_stop",
}

// Ends implements wire.Adapter.
func (Messages) Ends() *envelope.Ends { return &ends }

// Decode implements wire.Adapter.
func (Messages) Decode(t providers.Transcript) providers.Response {
	var b envelope.Builder
	if envelope.Streamed(t) {
		s := stream{b: &b}
		b.Events(t, s.take)
		s.end()
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
	message(&b, root, "")
	return b.Response()
}

// message reads a whole message.
func message(b *envelope.Builder, m strictjson.Raw, at string) {
	for k, v := range m.Members() {
		switch string(k) {
		case "model":
			b.Model(v, at+"/model")
		case "temperature":
			b.Temperature(v, at+"/temperature")
		case "stop_reason":
			b.Finish(v, &ends, at+"/stop_reason")
		case "usage":
			b.Usage(v.Get("input_tokens"), v.Get("output_tokens"), nil, at+"/usage/output_tokens")
		case "content":
			if v.IsString() {
				b.Text(v, at+"/content")
			}
			for i, block := range v.Elements() {
				content(b, block, at+"/content/"+strconv.Itoa(i))
			}
		}
	}
}

func content(b *envelope.Builder, block strictjson.Raw, at string) {
	switch block.Get("type").Text() {
	case "text":
		b.Text(block.Get("text"), at+"/text")
	case "tool_use":
		call := providers.ToolCall{Place: at}
		envelope.Name(&call, block.Get("id"), block.Get("name"))
		envelope.Object(&call, block.Get("input"))
		b.AppendCall(call)
	}
}

// stream keeps the input with which a tool_use block starts: it counts where no
// piece follows.
type stream struct {
	b      *envelope.Builder
	starts []start
}

type start struct {
	index int64
	input strictjson.Raw
}

func (s *stream) take(kind string, data strictjson.Raw) {
	if t := data.Get("type"); t.IsString() {
		kind = t.Text()
	}
	b := s.b
	switch kind {
	case "message_start":
		message(b, data.Get("message"), "/message")
	case "content_block_start":
		s.begin(data)
	case "content_block_delta":
		delta := data.Get("delta")
		switch delta.Get("type").Text() {
		case "text_delta":
			b.Text(delta.Get("text"), "/delta/text")
		case "input_json_delta":
			if index, ok := s.index(data); ok {
				call := b.Call(index, providers.ArgumentsObject, "")
				if piece := delta.Get("partial_json"); piece.IsString() {
					call.Arguments = piece.AppendText(call.Arguments)
				} else if piece.Present() {
					call.Encoding = providers.ArgumentsInvalid
				}
			}
		}
	case "message_delta":
		b.Finish(data.Get("delta").Get("stop_reason"), &ends, "/delta/stop_reason")
		u := data.Get("usage")
		b.Usage(u.Get("input_tokens"), u.Get("output_tokens"), nil, "/usage/output_tokens")
	case "message_stop":
		b.Marker()
	}
}

func (s *stream) begin(data strictjson.Raw) {
	block := data.Get("content_block")
	switch block.Get("type").Text() {
	case "text":
		s.b.Text(block.Get("text"), "/content_block/text")
	case "tool_use":
		index, ok := s.index(data)
		if !ok {
			return
		}
		call := s.b.Call(index, providers.ArgumentsObject, "")
		envelope.Name(call, block.Get("id"), block.Get("name"))
		if len(s.starts) < 128 {
			s.starts = append(s.starts, start{index: index, input: block.Get("input")})
		}
	}
}

func (s *stream) index(data strictjson.Raw) (int64, bool) {
	index, ok := data.Get("index").Int()
	if !ok {
		s.b.Malformed("a piece of a tool call has no numeric index")
	}
	return index, ok
}

func (s *stream) end() {
	for _, at := range s.starts {
		if call := s.b.Call(at.index, providers.ArgumentsObject, ""); len(call.Arguments) == 0 && call.Encoding == providers.ArgumentsObject {
			envelope.Object(call, at.input)
		}
	}
}
