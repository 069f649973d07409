// Package gemini speaks Gemini generateContent: a Request becomes HTTP bytes, a
// Transcript becomes a Response. No network.
//
// A stream has no end marker: its last chunk states the finish reason, some
// servers state it in every chunk, and only the close of the stream ends it.
package gemini

import (
	"strconv"
	"strings"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/envelope"
	"github.com/interlock-harness/interlock/providers/strictjson"
)

// GenerateContent is Gemini generateContent and streamGenerateContent.
type GenerateContent struct{}

var ends = envelope.Ends{
	Normal: []string{"STOP"},
	Words: map[string]providers.FinishClass{
		"MAX_TOKENS": providers.FinishLength, "CONTINUATION": providers.FinishLength,
		"SAFETY": providers.FinishFilter, "RECITATION": providers.FinishFilter, "BLOCKLIST": providers.FinishFilter,
		"PROHIBITED_CONTENT": providers.FinishFilter, "SPII": providers.FinishFilter, "LANGUAGE": providers.FinishFilter,
		"IMAGE_SAFETY": providers.FinishFilter, "IMAGE_PROHIBITED_CONTENT": providers.FinishFilter,
		"IMAGE_RECITATION": providers.FinishFilter, "MODEL_ARMOR": providers.FinishFilter,
	},
}

// Ends implements wire.Adapter.
func (GenerateContent) Ends() *envelope.Ends { return &ends }

// Decode implements wire.Adapter.
func (GenerateContent) Decode(t providers.Transcript) providers.Response {
	var b envelope.Builder
	if envelope.Streamed(t) {
		b.Events(t, func(_ string, data strictjson.Raw) { chunk(&b, data, "") })
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
	chunk(&b, root, "")
	for i, c := range root.Elements() { // a stream without alt=sse is one list of chunks
		chunk(&b, c, "/"+strconv.Itoa(i))
	}
	return b.Response()
}

func chunk(b *envelope.Builder, c strictjson.Raw, at string) {
	for k, v := range c.Members() {
		switch string(k) {
		case "modelVersion":
			b.Model(v, at+"/modelVersion")
		case "temperature":
			b.Temperature(v, at+"/temperature")
		case "usageMetadata":
			b.Usage(v.Get("promptTokenCount"), v.Get("candidatesTokenCount"), v.Get("totalTokenCount"), at+"/usageMetadata/candidatesTokenCount")
		case "promptFeedback":
			if reason := v.Get("blockReason").Text(); reason != "" && reason != "BLOCK_REASON_UNSPECIFIED" {
				b.End("blockReason "+reason, providers.FinishFilter, at+"/promptFeedback/blockReason")
			}
		case "candidates":
			candidate, i := first(v)
			read(b, candidate, at+"/candidates/"+strconv.Itoa(i))
		}
	}
}

func first(candidates strictjson.Raw) (strictjson.Raw, int) {
	for i, c := range candidates.Elements() {
		if n, ok := c.Get("index").Int(); ok && n == 0 {
			return c, i
		}
	}
	return candidates.At(0), 0
}

func read(b *envelope.Builder, candidate strictjson.Raw, at string) {
	b.Finish(candidate.Get("finishReason"), &ends, at+"/finishReason")
	if e := candidate.Get("error"); e.Present() {
		if f := envelope.Stated(candidate, false); f != nil {
			f.Place = at + f.Place
			b.Fail(f)
		}
	}
	for i, part := range candidate.Get("content").Get("parts").Elements() {
		where := at + "/content/parts/" + strconv.Itoa(i)
		var text, function strictjson.Raw
		thought := false
		for k, v := range part.Members() {
			switch string(k) {
			case "text":
				text = v
			case "functionCall":
				function = v
			case "thought":
				thought = string(v) == "true"
			}
		}
		if !thought {
			b.Text(text, where+"/text")
		}
		if function.Present() {
			call := providers.ToolCall{Place: where + "/functionCall"}
			envelope.Name(&call, function.Get("id"), function.Get("name"))
			envelope.Object(&call, function.Get("args"))
			b.AppendCall(call)
		}
	}
}

// bare is a model id without the collection in front of it.
func bare(model string) string { return strings.TrimPrefix(model, "models/") }
