package openai

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/envelope"
	"github.com/interlock-harness/interlock/providers/strictjson"
)

// Responses is the OpenAI Responses API, with background responses.
type Responses struct{}

// responsesEnds: the word is the status of the whole response; that of an item
// in it does not count. An incomplete response is classed by its reason.
var responsesEnds = envelope.Ends{
	Normal: []string{"completed"},
	Words: map[string]providers.FinishClass{
		"queued": providers.FinishOpen, "in_progress": providers.FinishOpen,
		"failed": providers.FinishBroken, "steered": providers.FinishLength, "max_messages": providers.FinishLength,
	},
	Marker: "event response.completed, response.incomplete or response.failed",
}

// Ends implements wire.Adapter.
func (Responses) Ends() *envelope.Ends { return &responsesEnds }

// Decode implements wire.Adapter.
func (Responses) Decode(t providers.Transcript) providers.Response {
	var b envelope.Builder
	if envelope.Streamed(t) {
		s := responsesStream{b: &b}
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
	responseObject(&b, root, "")
	responseOutput(&b, root.Get("output"), "/output")
	return b.Response()
}

// responseObject reads the state of a response: all but its output.
func responseObject(b *envelope.Builder, r strictjson.Raw, at string) {
	var status, incomplete strictjson.Raw
	for k, v := range r.Members() {
		switch string(k) {
		case "model":
			b.Model(v, at+"/model")
		case "temperature":
			b.Temperature(v, at+"/temperature")
		case "usage":
			b.Usage(v.Get("input_tokens"), v.Get("output_tokens"), v.Get("total_tokens"), at+"/usage/output_tokens")
		case "error":
			if f := envelope.Stated(r, false); f != nil {
				f.Place = at + f.Place
				b.Fail(f)
			}
		case "status":
			status = v
		case "incomplete_details":
			incomplete = v
		}
	}
	if status.Text() != "incomplete" {
		b.Finish(status, &responsesEnds, at+"/status")
		return
	}
	reason := incomplete.Get("reason").Text()
	class := responsesEnds.Class(reason)
	if class != providers.FinishLength && class != providers.FinishFilter && class != providers.FinishRefusal {
		class = providers.FinishAbnormal
	}
	word := "incomplete"
	if reason != "" {
		word += ": " + reason
	}
	b.End(word, class, at+"/incomplete_details/reason")
}

func responseOutput(b *envelope.Builder, output strictjson.Raw, at string) {
	for i, item := range output.Elements() {
		where := at + "/" + strconv.Itoa(i)
		switch item.Get("type").Text() {
		case "message":
			b.Texts(item.Get("content"), where+"/content")
		case "function_call":
			call := providers.ToolCall{Place: where}
			envelope.Name(&call, item.Get("call_id"), item.Get("name"))
			envelope.Arguments(&call, item.Get("arguments"))
			b.AppendCall(call)
		}
	}
}

// responsesStream joins the deltas of each part; the "done" events, which say
// everything again, count only where no delta came.
type responsesStream struct {
	b     *envelope.Builder
	parts []streamPart
	final strictjson.Raw // the response of the terminal event
}

// mostParts bounds the parts of one answer; real ones have a handful.
const mostParts = 512

type streamPart struct {
	item, content int64
	text          envelope.Builder
}

func (s *responsesStream) take(kind string, data strictjson.Raw) {
	if t := data.Get("type"); t.IsString() {
		kind = t.Text()
	}
	switch kind {
	case "response.created", "response.in_progress", "response.queued":
		responseObject(s.b, data.Get("response"), "/response")
	case "response.completed", "response.incomplete", "response.failed", "response.cancelled":
		s.final = data.Get("response")
		s.b.Marker()
		responseObject(s.b, s.final, "/response")
		if kind == "response.failed" { // whatever its status says
			s.b.End("failed", providers.FinishBroken, "/type")
		}
	case "response.output_text.delta":
		s.text(data, data.Get("delta"), "/delta", true)
	case "response.output_text.done":
		s.text(data, data.Get("text"), "/text", false)
	case "response.refusal.delta":
		s.b.Refuse(data.Get("delta"), "/delta")
	case "response.content_part.added", "response.content_part.done":
		if part := data.Get("part"); part.Get("type").Text() == "refusal" && !s.b.Refused() {
			s.b.Refuse(part.Get("refusal"), "/part/refusal")
		}
	case "response.refusal.done":
		if !s.b.Refused() {
			s.b.Refuse(data.Get("refusal"), "/refusal")
		}
	case "response.output_item.added", "response.output_item.done":
		s.item(data, kind == "response.output_item.done")
	case "response.function_call_arguments.delta":
		if call := s.call(data); call != nil {
			envelope.Arguments(call, data.Get("delta"))
		}
	case "response.function_call_arguments.done":
		if call := s.call(data); call != nil && len(call.Arguments) == 0 {
			envelope.Arguments(call, data.Get("arguments"))
		}
	}
}

func (s *responsesStream) call(data strictjson.Raw) *providers.ToolCall {
	n, ok := data.Get("output_index").Int()
	if !ok {
		s.b.Malformed("a piece of a tool call has no numeric output_index")
		return nil
	}
	return s.b.Call(n, providers.ArgumentsString, "")
}

func (s *responsesStream) item(data strictjson.Raw, done bool) {
	item := data.Get("item")
	switch item.Get("type").Text() {
	case "function_call":
		call := s.call(data)
		if call == nil {
			return
		}
		envelope.Name(call, item.Get("call_id"), item.Get("name"))
		if arguments := item.Get("arguments"); len(call.Arguments) == 0 && (done || !arguments.IsString() && arguments.Present()) {
			envelope.Arguments(call, arguments)
		}
	case "message":
		if !done {
			return
		}
		n, _ := data.Get("output_index").Int()
		for i, part := range item.Get("content").Elements() {
			if part.Get("type").Text() == "output_text" {
				s.add(n, int64(i), part.Get("text"), "/item/content/"+strconv.Itoa(i)+"/text", false)
			}
		}
	}
}

func (s *responsesStream) text(data, v strictjson.Raw, at string, delta bool) {
	item, _ := data.Get("output_index").Int()
	content, _ := data.Get("content_index").Int()
	s.add(item, content, v, at, delta)
}

func (s *responsesStream) add(item, content int64, v strictjson.Raw, at string, delta bool) {
	i := slices.IndexFunc(s.parts, func(p streamPart) bool { return p.item == item && p.content == content })
	if i < 0 {
		if len(s.parts) >= mostParts {
			s.b.Malformed("too many parts")
			return
		}
		s.parts = append(s.parts, streamPart{item: item, content: content})
		i = len(s.parts) - 1
	}
	p := &s.parts[i]
	if delta || !p.text.HasText() {
		s.b.Lend(&p.text)
		p.text.Text(v, at)
	}
}

func (s *responsesStream) end() {
	slices.SortStableFunc(s.parts, func(a, b streamPart) int {
		return cmp.Or(cmp.Compare(a.item, b.item), cmp.Compare(a.content, b.content))
	})
	for i := range s.parts {
		s.b.Join(&s.parts[i].text)
	}
	if !s.b.HasText() && !s.b.HasCalls() {
		responseOutput(s.b, s.final.Get("output"), "/response/output")
	}
}
