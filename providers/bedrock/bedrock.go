// Package bedrock speaks Amazon Bedrock Converse in its JSON form: a Request
// becomes HTTP bytes, a Transcript becomes a Response. No network. The binary
// event stream is not spoken. Answers do not name the model.
package bedrock

import (
	"strconv"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/envelope"
	"github.com/interlock-harness/interlock/providers/strictjson"
)

// Converse is Bedrock Converse.
type Converse struct{}

var ends = envelope.Ends{
	Normal: []string{"end_turn", "stop_sequence", "tool_use"},
	Words: map[string]providers.FinishClass{
		"guardrail_intervened": providers.FinishFilter, "content_filtered": providers.FinishFilter,
		"malformed_tool_use": providers.FinishAbnormal, "malformed_model_output": providers.FinishAbnormal,
	},
}

// Ends implements wire.Adapter.
func (Converse) Ends() *envelope.Ends { return &ends }

// Decode implements wire.Adapter.
func (Converse) Decode(t providers.Transcript) providers.Response {
	var b envelope.Builder
	root, why := envelope.Body(t, true)
	if root == nil {
		b.Unreadable(why)
		return b.Response()
	}
	if f := envelope.Stated(root, true); f != nil {
		b.Fail(f)
	} else if root.IsArray() {
		b.Unreadable("the body is no JSON object")
	} else if f := envelope.Stated(root.Get("Output"), false); f != nil { // how AWS words a failure of the front end
		f.Place = "/Output" + f.Place
		b.Fail(f)
	}
	for k, v := range root.Members() {
		switch string(k) {
		case "stopReason":
			b.Finish(v, &ends, "/stopReason")
		case "temperature":
			b.Temperature(v, "/temperature")
		case "usage":
			b.Usage(v.Get("inputTokens"), v.Get("outputTokens"), v.Get("totalTokens"), "/usage/outputTokens")
		case "output":
			for i, block := range v.Get("message").Get("content").Elements() {
				content(&b, block, "/output/message/content/"+strconv.Itoa(i))
			}
		}
	}
	return b.Response()
}

func content(b *envelope.Builder, block strictjson.Raw, at string) {
	for k, v := range block.Members() {
		switch string(k) {
		case "text":
			b.Text(v, at+"/text")
		case "toolUse":
			call := providers.ToolCall{Place: at + "/toolUse"}
			envelope.Name(&call, v.Get("toolUseId"), v.Get("name"))
			envelope.Object(&call, v.Get("input"))
			b.AppendCall(call)
		}
	}
}
