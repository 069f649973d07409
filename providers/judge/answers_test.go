package judge_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/contract"
	"github.com/interlock-harness/interlock/providers/judge"
)

// The answers of this file are written as the protocols' own documentation shows
// them, not with the adapters.

const ticketContract = `{
 "name": "ticket",
 "input": {"system": "Sort the message.", "user": "Charged twice for order 77, refund please"},
 "tool": {"name": "file_ticket"},
 "schema": {
  "type": "object", "additionalProperties": false, "required": ["queue", "urgency", "score", "due", "tags"],
  "properties": {
   "queue": {"enum": ["billing", "outage", "other"]},
   "urgency": {"type": "integer", "minimum": 1, "maximum": 5},
   "score": {"type": "number", "minimum": 0, "maximum": 1},
   "due": {"type": ["string", "null"], "format": "date"},
   "tags": {"type": "array", "items": {"type": "string", "pattern": "^[a-z0-9]+$"}, "maxItems": 3, "uniqueItems": true},
   "order": {"type": "object", "additionalProperties": false, "required": ["no"], "properties": {"no": {"type": "integer"}, "note": {"type": "string", "minLength": 1}}}
  }
 },
 "reference": {"queue": "billing"},
 "rules": [
  {"id": "business.urgency", "text": "an outage is urgent", "cel": "output.queue != 'outage' || output.urgency >= 4"},
  {"id": "business.tags", "text": "tags stand in the message", "cel": "output.tags.all(t, input.user.lowerAscii().contains(t))"},
  {"id": "business.queue", "text": "queue equals that of the reference", "cel": "output.queue == reference.queue"}
 ]
}`

const ticket = `{"queue":"billing","urgency":2,"score":0.85,"due":"2026-12-01","tags":["refund","77"]}`

func tickets(t testing.TB) *contract.Contract {
	t.Helper()
	c, err := contract.Parse("ticket.json", []byte(ticketContract))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// an answer of one protocol to one request.
type answer struct {
	protocol providers.Protocol
	mode     providers.Mode
	stream   bool
	status   int
	header   map[string]string
	body     string
	end      providers.End

	model       string
	max         int64
	temperature string
}

func (a answer) transcript() providers.Transcript {
	if a.status == 0 {
		a.status = 200
	}
	if a.model == "" {
		a.model = "orion"
	}
	if a.end == "" {
		a.end = providers.EndEOF
	}
	if a.mode == "" {
		a.mode = providers.ModeJSONSchema
	}
	header := http.Header{}
	if a.stream && a.protocol != providers.OllamaChat {
		header.Set("Content-Type", "text/event-stream; charset=utf-8")
	} else {
		header.Set("Content-Type", "application/json")
	}
	for k, v := range a.header {
		header.Set(k, v)
	}
	r := providers.Request{Model: a.model, Mode: a.mode, Stream: a.stream, ToolName: "file_ticket"}
	if a.max != 0 {
		r.MaxOutputTokens = &a.max
	}
	if a.temperature != "" {
		n := json.Number(a.temperature)
		r.Temperature = &n
	}
	return providers.Transcript{Protocol: a.protocol, Request: r, Reach: providers.ReachSent, Status: a.status, Header: header, Body: []byte(a.body), End: a.end}
}

func quote(s string) string {
	out, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(out)
}

// normal is the word for a normal end.
var normal = map[providers.Protocol]string{
	providers.OpenAIChat: "stop", providers.MistralChat: "stop", providers.OpenAIResponses: "completed", providers.AnthropicMessages: "end_turn",
	providers.Gemini: "STOP", providers.CohereChat: "COMPLETE", providers.BedrockConverse: "end_turn", providers.OllamaChat: "stop",
	providers.VLLMChat: "stop", providers.LlamaCppChat: "stop",
}

// everywhere lists the protocols; streaming those that have streams.
var everywhere = []providers.Protocol{
	providers.OpenAIChat, providers.MistralChat, providers.OpenAIResponses, providers.AnthropicMessages, providers.Gemini,
	providers.CohereChat, providers.BedrockConverse, providers.OllamaChat, providers.VLLMChat, providers.LlamaCppChat,
}

// takesString tells whether the protocol sends arguments as a string.
func takesString(p providers.Protocol) bool {
	return p == providers.OpenAIChat || p == providers.MistralChat || p == providers.VLLMChat || p == providers.LlamaCppChat || p == providers.OpenAIResponses || p == providers.CohereChat
}

// whole is a body that gives text and ends with the word finish; "" states none.
func whole(p providers.Protocol, text, finish string) string {
	word := quote(finish)
	if finish == "" {
		word = "null"
	}
	switch p {
	case providers.OpenAIChat, providers.MistralChat, providers.VLLMChat, providers.LlamaCppChat:
		return fmt.Sprintf(`{"id":"c1","object":"chat.completion","model":"orion","choices":[{"index":0,"message":{"role":"assistant","content":%s},"finish_reason":%s}],"usage":{"prompt_tokens":10,"completion_tokens":20,"total_tokens":30}}`, quote(text), word)
	case providers.OpenAIResponses:
		return fmt.Sprintf(`{"id":"r1","object":"response","status":%s,"error":null,"incomplete_details":null,"model":"orion","output":[{"type":"reasoning","summary":[]},{"type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","text":%s,"annotations":[]}]}],"temperature":0.5,"usage":{"input_tokens":10,"output_tokens":20,"total_tokens":30}}`, word, quote(text))
	case providers.AnthropicMessages:
		return fmt.Sprintf(`{"id":"m1","type":"message","role":"assistant","model":"orion","content":[{"type":"thinking","thinking":"hm","signature":"x"},{"type":"text","text":%s}],"stop_reason":%s,"stop_sequence":null,"usage":{"input_tokens":10,"output_tokens":20}}`, quote(text), word)
	case providers.Gemini:
		return fmt.Sprintf(`{"candidates":[{"content":{"parts":[{"text":"hm","thought":true},{"text":%s}],"role":"model"},"finishReason":%s,"index":0}],"usageMetadata":{"promptTokenCount":10,"candidatesTokenCount":20,"totalTokenCount":30},"modelVersion":"orion"}`, quote(text), word)
	case providers.CohereChat:
		return fmt.Sprintf(`{"id":"c1","finish_reason":%s,"message":{"role":"assistant","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":%s}]},"usage":{"billed_units":{"input_tokens":10,"output_tokens":20},"tokens":{"input_tokens":10,"output_tokens":20}}}`, word, quote(text))
	case providers.BedrockConverse:
		return fmt.Sprintf(`{"metrics":{"latencyMs":1},"output":{"message":{"role":"assistant","content":[{"reasoningContent":{"reasoningText":{"text":"hm"}}},{"text":%s}]}},"stopReason":%s,"usage":{"inputTokens":10,"outputTokens":20,"totalTokens":30}}`, quote(text), word)
	case providers.OllamaChat:
		return fmt.Sprintf(`{"model":"orion","created_at":"2026-11-21T09:00:00Z","message":{"role":"assistant","content":%s,"thinking":"hm"},"done":true,"done_reason":%s,"prompt_eval_count":10,"eval_count":20}`, quote(text), word)
	}
	panic(p)
}

// calling is a body with calls; each is a name and arguments, put in as they are
// where the protocol takes a value, and quoted where it takes a string.
func calling(p providers.Protocol, finish string, calls ...[2]string) string {
	var parts []string
	for i, c := range calls {
		arguments := c[1]
		if takesString(p) {
			arguments = quote(arguments)
		}
		form := map[providers.Protocol]string{
			providers.OpenAIResponses:   `{"type":"function_call","id":"f%[1]d","call_id":"c%[1]d","name":%[2]s,"arguments":%[3]s,"status":"completed"}`,
			providers.AnthropicMessages: `{"type":"tool_use","id":"t%[1]d","name":%[2]s,"input":%[3]s}`,
			providers.Gemini:            `{"functionCall":{"name":%[2]s,"args":%[3]s}}`,
			providers.BedrockConverse:   `{"toolUse":{"toolUseId":"t%[1]d","name":%[2]s,"input":%[3]s}}`,
			providers.OllamaChat:        `{"function":{"name":%[2]s,"arguments":%[3]s}}`,
		}[p]
		if form == "" {
			form = `{"id":"c%[1]d","type":"function","function":{"name":%[2]s,"arguments":%[3]s}}`
		}
		text := strings.NewReplacer("%[1]d", strconv.Itoa(i), "%[2]s", quote(c[0]), "%[3]s", arguments).Replace(form)
		parts = append(parts, text)
	}
	list := strings.Join(parts, ",")
	switch p {
	case providers.OpenAIChat, providers.MistralChat, providers.VLLMChat, providers.LlamaCppChat:
		return fmt.Sprintf(`{"model":"orion","choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[%s]},"finish_reason":%s}]}`, list, quote(finish))
	case providers.OpenAIResponses:
		return fmt.Sprintf(`{"object":"response","status":%s,"model":"orion","output":[%s]}`, quote(finish), list)
	case providers.AnthropicMessages:
		return fmt.Sprintf(`{"type":"message","model":"orion","content":[{"type":"text","text":"I file it."},%s],"stop_reason":%s}`, list, quote(finish))
	case providers.Gemini:
		return fmt.Sprintf(`{"candidates":[{"content":{"parts":[%s],"role":"model"},"finishReason":%s}],"modelVersion":"orion"}`, list, quote(finish))
	case providers.CohereChat:
		return fmt.Sprintf(`{"finish_reason":%s,"message":{"role":"assistant","tool_plan":"I file it.","tool_calls":[%s]}}`, quote(finish), list)
	case providers.BedrockConverse:
		return fmt.Sprintf(`{"output":{"message":{"role":"assistant","content":[%s]}},"stopReason":%s}`, list, quote(finish))
	case providers.OllamaChat:
		return fmt.Sprintf(`{"model":"orion","message":{"role":"assistant","content":"","tool_calls":[%s]},"done":true,"done_reason":%s}`, list, quote(finish))
	}
	panic(p)
}

// events are the events of a stream that gives text in pieces, and the number of
// those after which the end is stated.
func events(p providers.Protocol, finish string, pieces ...string) (list []string, stated int) {
	say := func(kind, data string) {
		if kind != "" {
			kind = "event: " + kind + "\n"
		}
		list = append(list, kind+"data: "+data+"\n\n")
	}
	switch p {
	case providers.OpenAIChat, providers.MistralChat, providers.VLLMChat, providers.LlamaCppChat:
		chunk := func(delta, finish string) {
			say("", fmt.Sprintf(`{"object":"chat.completion.chunk","model":"orion","choices":[{"index":0,"delta":%s,"finish_reason":%s}]}`, delta, finish))
		}
		chunk(`{"role":"assistant","content":""}`, "null")
		for _, piece := range pieces {
			chunk(`{"content":`+quote(piece)+`}`, "null")
		}
		chunk(`{}`, quote(finish))
		stated = len(list)
		say("", `{"object":"chat.completion.chunk","model":"orion","choices":[],"usage":{"prompt_tokens":10,"completion_tokens":20}}`)
		say("", "[DONE]")
	case providers.OpenAIResponses:
		say("response.created", `{"type":"response.created","response":{"status":"in_progress","model":"orion","output":[],"error":null}}`)
		say("response.output_item.added", `{"type":"response.output_item.added","output_index":0,"item":{"type":"message","content":[]}}`)
		for _, piece := range pieces {
			say("response.output_text.delta", `{"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":`+quote(piece)+`}`)
		}
		text := quote(strings.Join(pieces, ""))
		say("response.output_text.done", `{"type":"response.output_text.done","output_index":0,"content_index":0,"text":`+text+`}`)
		say("response.output_item.done", `{"type":"response.output_item.done","output_index":0,"item":{"type":"message","content":[{"type":"output_text","text":`+text+`}]}}`)
		say("response.completed", `{"type":"response.completed","response":{"status":`+quote(finish)+`,"model":"orion","error":null,"output":[{"type":"message","content":[{"type":"output_text","text":`+text+`}]}]}}`)
		stated = len(list)
	case providers.AnthropicMessages:
		say("message_start", `{"type":"message_start","message":{"model":"orion","content":[],"stop_reason":null,"usage":{"input_tokens":10,"output_tokens":1}}}`)
		say("ping", `{"type":"ping"}`)
		say("content_block_start", `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`)
		for _, piece := range pieces {
			say("content_block_delta", `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":`+quote(piece)+`}}`)
		}
		say("content_block_stop", `{"type":"content_block_stop","index":0}`)
		say("message_delta", `{"type":"message_delta","delta":{"stop_reason":`+quote(finish)+`},"usage":{"output_tokens":20}}`)
		stated = len(list)
		say("message_stop", `{"type":"message_stop"}`)
	case providers.Gemini:
		for i, piece := range pieces {
			end := ""
			if i == len(pieces)-1 {
				end = `,"finishReason":` + quote(finish)
			}
			say("", `{"candidates":[{"content":{"parts":[{"text":`+quote(piece)+`}],"role":"model"}`+end+`,"index":0}],"modelVersion":"orion"}`)
		}
		stated = len(list)
	case providers.CohereChat:
		say("message-start", `{"type":"message-start","id":"1","delta":{"message":{"role":"assistant","content":[],"tool_calls":[]}}}`)
		say("content-start", `{"type":"content-start","index":0,"delta":{"message":{"content":{"type":"text","text":""}}}}`)
		for _, piece := range pieces {
			say("content-delta", `{"type":"content-delta","index":0,"delta":{"message":{"content":{"text":`+quote(piece)+`}}}}`)
		}
		say("content-end", `{"type":"content-end","index":0}`)
		say("message-end", `{"type":"message-end","delta":{"finish_reason":`+quote(finish)+`,"usage":{"tokens":{"input_tokens":10,"output_tokens":20}}}}`)
		stated = len(list)
	case providers.OllamaChat:
		for _, piece := range pieces {
			list = append(list, `{"model":"orion","message":{"role":"assistant","content":`+quote(piece)+`},"done":false}`+"\n")
		}
		list = append(list, `{"model":"orion","message":{"role":"assistant","content":""},"done":true,"done_reason":`+quote(finish)+`,"eval_count":20}`+"\n")
		stated = len(list)
	}
	return list, stated
}

// callEvents are the events of a stream that makes one call, its arguments in
// pieces.
func callEvents(p providers.Protocol, finish, name string, pieces ...string) (list []string, stated int) {
	say := func(kind, data string) { list = append(list, "event: "+kind+"\ndata: "+data+"\n\n") }
	switch p {
	case providers.OpenAIChat, providers.MistralChat, providers.VLLMChat, providers.LlamaCppChat:
		chunk := func(delta, finish string) {
			list = append(list, fmt.Sprintf(`data: {"model":"orion","choices":[{"index":0,"delta":%s,"finish_reason":%s}]}`, delta, finish)+"\n\n")
		}
		chunk(`{"tool_calls":[{"index":0,"id":"c","type":"function","function":{"name":`+quote(name)+`,"arguments":""}}]}`, "null")
		for _, piece := range pieces {
			chunk(`{"tool_calls":[{"index":0,"function":{"arguments":`+quote(piece)+`}}]}`, "null")
		}
		chunk(`{}`, quote(finish))
		stated = len(list)
		list = append(list, "data: [DONE]\n\n")
	case providers.OpenAIResponses:
		say("x", `{"type":"response.created","response":{"status":"in_progress","model":"orion"}}`)
		say("x", `{"type":"response.output_item.added","output_index":0,"item":{"type":"function_call","call_id":"c","name":`+quote(name)+`,"arguments":""}}`)
		for _, piece := range pieces {
			say("x", `{"type":"response.function_call_arguments.delta","output_index":0,"delta":`+quote(piece)+`}`)
		}
		say("x", `{"type":"response.function_call_arguments.done","output_index":0,"arguments":`+quote(strings.Join(pieces, ""))+`}`)
		say("x", `{"type":"response.completed","response":{"status":`+quote(finish)+`,"model":"orion"}}`)
		stated = len(list)
	case providers.AnthropicMessages:
		say("message_start", `{"type":"message_start","message":{"model":"orion","content":[],"stop_reason":null}}`)
		say("content_block_start", `{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t","name":`+quote(name)+`,"input":{}}}`)
		for _, piece := range pieces {
			say("content_block_delta", `{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":`+quote(piece)+`}}`)
		}
		say("message_delta", `{"type":"message_delta","delta":{"stop_reason":`+quote(finish)+`}}`)
		stated = len(list)
		say("message_stop", `{"type":"message_stop"}`)
	case providers.Gemini:
		list = append(list, `data: {"candidates":[{"content":{"parts":[{"functionCall":{"name":`+quote(name)+`,"args":`+strings.Join(pieces, "")+`}}]},"finishReason":`+quote(finish)+"}]}\n\n")
		stated = len(list)
	case providers.CohereChat:
		say("tool-call-start", `{"type":"tool-call-start","index":0,"delta":{"message":{"tool_calls":{"id":"c","type":"function","function":{"name":`+quote(name)+`,"arguments":""}}}}}`)
		for _, piece := range pieces {
			say("tool-call-delta", `{"type":"tool-call-delta","index":0,"delta":{"message":{"tool_calls":{"function":{"arguments":`+quote(piece)+`}}}}}`)
		}
		say("message-end", `{"type":"message-end","delta":{"finish_reason":`+quote(finish)+`}}`)
		stated = len(list)
	case providers.OllamaChat:
		list = append(list, `{"model":"orion","message":{"content":"","tool_calls":[{"function":{"name":`+quote(name)+`,"arguments":`+strings.Join(pieces, "")+`}}]},"done":false}`+"\n",
			`{"model":"orion","message":{"content":""},"done":true,"done_reason":`+quote(finish)+`}`+"\n")
		stated = len(list)
	}
	return list, stated
}

var judgedCount int

// TestMain sees to it that the tables do not shrink unseen.
func TestMain(m *testing.M) {
	code := m.Run()
	if all := flag.Lookup("test.run").Value.String() == "" && flag.Lookup("test.skip").Value.String() == "" && flag.Lookup("test.fuzz").Value.String() == "" && !testing.Short(); code == 0 && all && flag.Lookup("test.list").Value.String() == "" && judgedCount < 5500 {
		fmt.Printf("only %d answers were judged\n", judgedCount)
		code = 1
	}
	os.Exit(code)
}

// check judges a and compares verdict and reason. A reason without a dot is a
// family.
func check(t *testing.T, c *contract.Contract, a answer, verdict providers.Verdict, reason string) {
	t.Helper()
	judgedCount++
	j := judge.Judge(c, c.Case(contract.ReferenceCase), a.transcript())
	family, _, _ := strings.Cut(j.Reason, ".")
	if j.Verdict != verdict || j.Reason != reason && (strings.Contains(reason, ".") || family != reason) {
		t.Errorf("%s %s stream=%v status=%d end=%s: %s %s (%s: %s), want %s %s\n%s", a.protocol, a.mode, a.stream, a.status, a.end, j.Verdict, j.Reason, j.Place, j.Detail, verdict, reason, a.body)
	}
	if j.Verdict != providers.Accept && (j.Place == "" || j.Detail == "") {
		t.Errorf("%s has no place or detail: %+v", j.Reason, j)
	}
	if j.Verdict == providers.Accept && len(j.Output) == 0 {
		t.Error("accepted without an output")
	}
}
