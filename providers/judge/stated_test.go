package judge_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/contract"
	"github.com/interlock-harness/interlock/providers/judge"
)

// errorShapes are documents that state a failure, as servers of each kind write
// them.
var errorShapes = map[string]string{
	"openai":            `{"error":{"message":"The server had an error","type":"server_error","param":null,"code":null}}`,
	"openrouter":        `{"error":{"code":402,"message":"Insufficient credits","metadata":{}},"user_id":"u"}`,
	"vllm":              `{"object":"error","message":"Internal","type":"InternalServerError","param":null,"code":500}`,
	"anthropic":         `{"type":"error","error":{"type":"api_error","message":"Internal server error"},"request_id":"req_1"}`,
	"gemini":            `{"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}}`,
	"gemini list":       `[{"error":{"code":400,"message":"API key not valid","status":"INVALID_ARGUMENT","details":[]}}]`,
	"bedrock type":      `{"__type":"com.amazonaws.bedrock#ThrottlingException","message":"Too many requests"}`,
	"bedrock message":   `{"message":"The model is not ready for inference"}`,
	"bedrock front end": `{"Output":{"__type":"com.amazon.coral.service#UnknownOperationException"},"Version":"1.0"}`,
	"cohere":            `{"id":"e1","message":"invalid request: bad schema"}`,
	"mistral":           `{"object":"error","message":"Service unavailable","type":"service_unavailable","code":"3000"}`,
	"fastapi":           `{"detail":"Not authenticated"}`,
	"validation":        `{"detail":[{"loc":["body"],"msg":"field required","type":"value_error"}]}`,
	"ollama":            `{"error":"model 'x' not found"}`,
	"plain truth":       `{"error":true,"message":"no"}`,
	"list of errors":    `{"success":false,"errors":[{"code":1000,"message":"x"}],"result":null}`,
}

func TestErrorsStatedInA200(t *testing.T) {
	c := tickets(t)
	for name, body := range errorShapes {
		for _, p := range everywhere {
			if name == "bedrock front end" && p != providers.BedrockConverse {
				continue
			}
			check(t, c, answer{protocol: p, body: body}, failure, "error.in_body")
			check(t, c, answer{protocol: p, body: "\n\n  " + body + "\n"}, failure, "error.in_body")
		}
	}
	for _, p := range everywhere {
		good := whole(p, ticket, normal[p])
		with := func(member string) answer {
			return answer{protocol: p, body: strings.TrimSuffix(good, "}") + "," + member + "}"}
		}
		check(t, c, with(`"error":{"message":"x"}`), failure, "error.in_body")
		check(t, c, with(`"error":"x"`), failure, "error.in_body")
		for _, none := range []string{`"error":null`, `"error":{}`, `"error":""`, `"error":false`, `"detail":"x"`, `"warnings":["x"]`, `"errors":[]`} {
			check(t, c, with(none), accept, "ok")
		}
		for _, code := range []string{"408", "504", "524"} {
			check(t, c, answer{protocol: p, body: `{"error":{"message":"x","code":` + code + `}}`}, unknown, "unknown.upstream_timeout")
			check(t, c, answer{protocol: p, body: `{"error":{"message":"x","code":"` + code + `"}}`}, unknown, "unknown.upstream_timeout")
		}
		check(t, c, answer{protocol: p, body: `{"error":{"message":"x","status":504}}`}, unknown, "unknown.upstream_timeout")
		check(t, c, answer{protocol: p, body: `{"error":"timeout","code":504}`}, unknown, "unknown.upstream_timeout")
		for _, code := range []string{"400", "429", "500", "503", "5040", `"timeout"`, "null"} {
			check(t, c, answer{protocol: p, body: `{"error":{"message":"504 somewhere","code":` + code + `}}`}, failure, "error.in_body")
		}
	}
	check(t, c, answer{protocol: providers.OpenAIChat, body: `{"choices":[{"index":0,"error":{"code":502,"message":"x"},"message":{"content":"{"},"finish_reason":"stop"}]}`}, failure, "error.in_body")
	check(t, c, answer{protocol: providers.OpenAIChat, body: `{"choices":[{"index":0,"error":{"code":504,"message":"x"},"finish_reason":"error"}]}`}, unknown, "unknown.upstream_timeout")
	check(t, c, answer{protocol: providers.OpenAIChat, body: `{"choices":[{"index":0,"finish_reason":"error","error":{"code":504,"message":"x"}}]}`}, unknown, "unknown.upstream_timeout")
	check(t, c, answer{protocol: providers.OpenAIChat, body: `{"choices":[{"index":0,"finish_reason":"error","error":{"code":500,"message":"x"}}]}`}, failure, "error.in_body")
	check(t, c, answer{protocol: providers.OpenAIResponses, body: `{"status":"failed","error":null,"output":[]}`}, failure, "error.in_body")
}

func TestErrorsStatedInAStream(t *testing.T) {
	c := tickets(t)
	for _, p := range everywhere {
		if !streams(p) {
			continue
		}
		list, stated := events(p, normal[p], ticket[:20], ticket[20:])
		for n := range stated + 1 {
			for name, body := range errorShapes {
				if strings.Contains(name, "bedrock") || name == "cohere" || name == "fastapi" || name == "validation" || name == "gemini list" || name == "list of errors" {
					continue // not an error object of a stream
				}
				for _, end := range []providers.End{providers.EndEOF, providers.EndReset, providers.EndStall} {
					event := "data: " + body + "\n\n"
					if p == providers.OllamaChat {
						event = body + "\n"
					}
					if n == stated && p == providers.OllamaChat || n == stated && p == providers.CohereChat || n == stated && p == providers.OpenAIResponses {
						continue // after the end marker nothing counts
					}
					check(t, c, answer{protocol: p, stream: true, body: strings.Join(list[:n], "") + event, end: end}, failure, "error.mid_stream")
				}
			}
		}
		if p == providers.OllamaChat {
			check(t, c, answer{protocol: p, stream: true, body: list[0] + `{"error":"upstream","code":504}` + "\n"}, unknown, "unknown.upstream_timeout")
			continue
		}
		check(t, c, answer{protocol: p, stream: true, body: list[0] + "event: error\ndata: Internal Server Error\n\n"}, failure, "error.mid_stream")
		check(t, c, answer{protocol: p, stream: true, body: list[0] + "event: error\ndata: {\"message\":\"x\"}\n\n"}, failure, "error.mid_stream")
		check(t, c, answer{protocol: p, stream: true, body: list[0] + "event: error\n\n"}, unknown, "unknown.cut_stream")
		check(t, c, answer{protocol: p, stream: true, body: list[0] + "data: {\"error\":{\"code\":504,\"message\":\"x\"}}\n\n"}, unknown, "unknown.upstream_timeout")
		check(t, c, answer{protocol: p, stream: true, body: "data: oops\n\n" + list[0] + "data: {\"error\":{\"message\":\"x\"}}\n\n"}, failure, "error.mid_stream")
	}
	failed := `data: {"type":"response.failed","response":{"status":"failed","error":{"code":"server_error","message":"x"}}}` + "\n\n"
	check(t, c, answer{protocol: providers.OpenAIResponses, stream: true, body: failed}, failure, "error.mid_stream")
	check(t, c, answer{protocol: providers.OpenAIResponses, stream: true, body: "data: {\"type\":\"error\",\"code\":\"rate_limit_exceeded\",\"message\":\"x\"}\n\n"}, failure, "error.mid_stream")
	check(t, c, answer{protocol: providers.OpenAIChat, stream: true, body: "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"\"},\"finish_reason\":\"error\",\"error\":{\"code\":502}}]}\n\n"}, failure, "error.mid_stream")
	// An error body where a stream was asked for is a body.
	check(t, c, answer{protocol: providers.OpenAIChat, stream: true, header: map[string]string{"Content-Type": "application/json"}, body: errorShapes["openai"]}, failure, "error.in_body")
	check(t, c, answer{protocol: providers.OpenAIChat, stream: true, header: map[string]string{"Content-Type": "application/json"}, body: whole(providers.OpenAIChat, ticket, "stop")}, accept, "ok")
}

func TestStreamsThatBreakTheirProtocol(t *testing.T) {
	c := tickets(t)
	for _, p := range everywhere {
		if !streams(p) {
			continue
		}
		list, stated := events(p, normal[p], ticket[:20], ticket[20:])
		bad := []string{"data: : ping\n\n", "data: {\"a\":\n\n", "data: [done]\n\n", "data: keep-alive\n\n", "data: {}{}\n\n", "data\n\n"}
		harmless := []string{": ping\n\n", "event: ping\n\n", "id: 1\n\n", "data: {}\n\n", "data: {\"type\":\"ping\"}\n\n", "data: null\n\n", "data: []\n\n", "data: 5\n\n",
			"event: unheard.of\ndata: {\"type\":\"unheard.of\",\"message\":\"processing\"}\n\n", "\n\n\n"}
		if p == providers.OllamaChat {
			bad, harmless = []string{"oops\n", "data: {}\n", ": ping\n", "{\"a\":\n"}, []string{"\n", "{}\n", "{\"status\":\"loading\"}\n"}
		}
		for n := range stated {
			for _, event := range bad {
				body := strings.Join(list[:n], "") + event + strings.Join(list[n:], "")
				check(t, c, answer{protocol: p, stream: true, body: body}, reject, "envelope.malformed_stream")
				check(t, c, answer{protocol: p, stream: true, body: body, end: providers.EndReset}, reject, "envelope.malformed_stream")
				// Nothing stated an end: the work may still go on.
				check(t, c, answer{protocol: p, stream: true, body: strings.Join(list[:n], "") + event, end: providers.EndReset}, unknown, "unknown.cut_stream")
			}
			for _, event := range harmless {
				check(t, c, answer{protocol: p, stream: true, body: strings.Join(list[:n], "") + event + strings.Join(list[n:], "")}, accept, "ok")
			}
		}
	}
	done := "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":" + quote(ticket) + "},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"
	check(t, c, answer{protocol: providers.OpenAIChat, stream: true, body: done + done}, accept, "ok") // the first end counts
	check(t, c, answer{protocol: providers.OpenAIChat, stream: true, body: done + "data: oops\n\n"}, accept, "ok")
	check(t, c, answer{protocol: providers.OpenAIChat, stream: true, body: strings.Replace(done, "data: [DONE]", "data:  [DONE] ", 1)}, accept, "ok")
	check(t, c, answer{protocol: providers.OpenAIChat, stream: true, body: "data: " + strings.Repeat("x", 2<<20)}, reject, "envelope.oversize")
	lines := "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":" + quote(ticket) + "},\ndata: \"finish_reason\":\"stop\"}]}\n\n"
	check(t, c, answer{protocol: providers.OpenAIChat, stream: true, body: lines}, accept, "ok") // one event, two data lines
	other := "data: {\"choices\":[{\"index\":1,\"delta\":{\"content\":\"xx\"}}]}\n\n"
	check(t, c, answer{protocol: providers.OpenAIChat, stream: true, body: strings.Replace(done, "data: [DONE]", strings.TrimSpace(other)+"\n\ndata: [DONE]", 1)}, accept, "ok") // another choice
	length := "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"length\"}]}\n\n"
	check(t, c, answer{protocol: providers.OpenAIChat, stream: true, body: length + done}, reject, "stop.length") // not taken back
}

func TestStatusesDecideFirst(t *testing.T) {
	c := tickets(t)
	html, object := "<html>oops</html>", errorShapes["openai"]
	for _, p := range everywhere {
		good := whole(p, ticket, normal[p])
		for _, tt := range []struct {
			status  int
			body    string
			header  string // Retry-After
			verdict providers.Verdict
			reason  string
		}{
			{400, object, "", failure, "error.rejected"}, {400, html, "", failure, "error.rejected"}, {400, "", "", failure, "error.rejected"}, {400, good, "", failure, "error.rejected"},
			{401, object, "", failure, "error.rejected"}, {403, html, "", failure, "error.rejected"}, {404, object, "", failure, "error.rejected"}, {409, object, "", failure, "error.rejected"},
			{413, "", "", failure, "error.rejected"}, {422, object, "", failure, "error.rejected"}, {425, html, "", failure, "error.rejected"}, {429, object, "5", failure, "error.rejected"}, {429, "", "", failure, "error.rejected"}, {499, "", "", failure, "error.rejected"},
			{301, "", "", failure, "error.rejected"}, {307, html, "", failure, "error.rejected"}, {308, good, "", failure, "error.rejected"},
			{408, object, "", unknown, "unknown.upstream_timeout"}, {408, "", "", unknown, "unknown.upstream_timeout"}, {504, html, "", unknown, "unknown.upstream_timeout"}, {504, object, "7", unknown, "unknown.upstream_timeout"}, {524, html, "", unknown, "unknown.upstream_timeout"},
			{500, object, "", unknown, "unknown.upstream_error"}, {500, html, "", unknown, "unknown.unreadable_body"}, {500, "", "", unknown, "unknown.unreadable_body"}, {500, good, "", unknown, "unknown.unreadable_body"}, {500, "null", "", unknown, "unknown.unreadable_body"},
			{500, object[:20], "", unknown, "unknown.unreadable_body"}, {500, object, "5", unknown, "unknown.upstream_error"}, {501, object, "", unknown, "unknown.upstream_error"},
			{502, object, "", unknown, "unknown.upstream_error"}, {502, html, "", unknown, "unknown.unreadable_body"}, {520, html, "", unknown, "unknown.unreadable_body"}, {522, object, "", unknown, "unknown.upstream_error"},
			{503, object, "", unknown, "unknown.upstream_error"}, {503, object, "10", failure, "error.rejected"}, {503, object, "0", failure, "error.rejected"}, {503, object, "Wed, 21 Oct 2026 07:28:00 GMT", failure, "error.rejected"},
			{503, object, "abc", unknown, "unknown.upstream_error"}, {503, object, "-1", unknown, "unknown.upstream_error"}, {503, object, " ", unknown, "unknown.upstream_error"}, {503, html, "10", unknown, "unknown.unreadable_body"}, {503, "", "10", unknown, "unknown.unreadable_body"},
			{529, object, "", failure, "error.rejected"}, {529, html, "", unknown, "unknown.unreadable_body"}, {529, "", "", unknown, "unknown.unreadable_body"},
			{200, "", "", unknown, "unknown.unreadable_body"}, {200, "null", "", unknown, "unknown.unreadable_body"}, {200, html, "", unknown, "unknown.unreadable_body"}, {200, good[:len(good)/2], "", unknown, "unknown.unreadable_body"},
			{200, good + "x", "", unknown, "unknown.unreadable_body"}, {200, "\ufeff" + good, "", unknown, "unknown.unreadable_body"}, {200, good + good, "", unknown, "unknown.unreadable_body"}, {200, `"ok"`, "", unknown, "unknown.unreadable_body"},
			{201, good, "", accept, "ok"}, {202, good, "", accept, "ok"}, {299, good, "", accept, "ok"}, {204, "", "", unknown, "unknown.unreadable_body"}, {206, good, "", unknown, "unknown"}, {304, "", "", unknown, "unknown"}, {199, good, "", unknown, "unknown"}, {600, good, "", unknown, "unknown"},
		} {
			a := answer{protocol: p, status: tt.status, body: tt.body}
			if tt.header != "" {
				a.header = map[string]string{"Retry-After": tt.header}
			}
			check(t, c, a, tt.verdict, tt.reason)
		}
		for name, body := range errorShapes {
			if name == "bedrock front end" {
				continue
			}
			check(t, c, answer{protocol: p, status: 503, body: body, header: map[string]string{"retry-after": "3"}}, failure, "error.rejected")
			check(t, c, answer{protocol: p, status: 500, body: body}, unknown, "unknown.upstream_error")
			check(t, c, answer{protocol: p, status: 529, body: body}, failure, "error.rejected")
		}
	}
}

func TestModelsAndParameters(t *testing.T) {
	c := tickets(t)
	p := providers.OpenAIChat
	named := func(asked, name string) answer {
		return answer{protocol: p, model: asked, body: strings.Replace(whole(p, ticket, "stop"), `"model":"orion"`, `"model":`+name, 1)}
	}
	for _, tt := range []struct {
		asked, named string
		same         bool
	}{
		{"orion", `"orion"`, true}, {"orion", `"orion-2026-08-06"`, true}, {"orion", `"orion-20260806"`, true}, {"orion", `null`, true}, {"orion", `""`, true},
		{"orion-large", `"orion-large-20260806"`, true}, {"orion-2026-08-06", `"orion-2026-08-06"`, true},
		{"orion", `"orion-mini"`, false}, {"orion", `"Orion"`, false}, {"orion", `"orion-2026-13-01"`, false}, {"orion", `"orion-2026-02-30"`, false}, {"orion", `"orion-20260899"`, false},
		{"orion", `"orion-001"`, false}, {"orion", `"orion-2026-08-06-mini"`, false}, {"orion", `"orion2026-08-06"`, false}, {"orion", `"orion@20260806"`, false}, {"orion", `"org/orion"`, false},
		{"orion-2026-08-06", `"orion"`, false}, {"orion-2026-08-06", `"orion-2026-08-07"`, false}, {"orion", `"orion:latest"`, false}, {"orion", `"nimbus"`, false},
	} {
		if tt.same {
			check(t, c, named(tt.asked, tt.named), accept, "ok")
		} else {
			check(t, c, named(tt.asked, tt.named), reject, "model.mismatch")
		}
	}
	for _, p := range everywhere {
		if p != providers.CohereChat && p != providers.BedrockConverse { // these do not name it
			check(t, c, answer{protocol: p, model: "nimbus", body: whole(p, ticket, normal[p])}, reject, "model.mismatch")
			if streams(p) {
				list, _ := events(p, normal[p], ticket[:20], ticket[20:])
				check(t, c, answer{protocol: p, model: "nimbus", stream: true, body: strings.Join(list, "")}, reject, "model.mismatch")
				swapped := strings.Join(list, "")
				at := strings.LastIndex(swapped, `"orion"`)
				swapped = swapped[:at] + `"nimbus"` + swapped[at+len(`"orion"`):]
				check(t, c, answer{protocol: p, stream: true, body: swapped}, reject, "model.mismatch")
			}
		}
		for _, most := range []int64{19, 20, 21} {
			a := answer{protocol: p, max: most, body: whole(p, ticket, normal[p])}
			if most < 20 {
				check(t, c, a, reject, "param.ignored")
			} else {
				check(t, c, a, accept, "ok")
			}
		}
	}
	usage := func(value string) answer {
		return answer{protocol: p, max: 50, body: strings.Replace(whole(p, ticket, "stop"), `"completion_tokens":20`, `"completion_tokens":`+value, 1)}
	}
	for value, ok := range map[string]bool{"0": true, "50.0": true, "null": true, `"99"`: true, "1.5": true, "-1": true, "51": false, "5.1e1": false, "9223372036854775808": false, "1e300": false} {
		if ok {
			check(t, c, usage(value), accept, "ok")
		} else {
			check(t, c, usage(value), reject, "param.ignored")
		}
	}
	for sent, ok := range map[string]bool{"0.5": true, "0.50": true, "5e-1": true, "": true, "0": false, "0.7": false, "1": false} {
		a := answer{protocol: providers.OpenAIResponses, temperature: sent, body: whole(providers.OpenAIResponses, ticket, "completed")}
		if ok {
			check(t, c, a, accept, "ok")
		} else {
			check(t, c, a, reject, "param.ignored")
		}
	}
}

func TestRefusals(t *testing.T) {
	c := tickets(t)
	chat := func(message string) answer {
		return answer{protocol: providers.OpenAIChat, body: `{"choices":[{"index":0,"message":` + message + `,"finish_reason":"stop"}]}`}
	}
	check(t, c, chat(`{"content":null,"refusal":"No."}`), reject, "stop.refusal")
	check(t, c, chat(`{"content":`+quote(ticket)+`,"refusal":"No."}`), reject, "stop.refusal")
	check(t, c, chat(`{"content":`+quote(ticket)+`,"refusal":null}`), accept, "ok")
	check(t, c, chat(`{"content":`+quote(ticket)+`,"refusal":""}`), accept, "ok")
	check(t, c, chat(`{"content":[{"type":"refusal","refusal":"No."},{"type":"text","text":`+quote(ticket)+`}]}`), reject, "stop.refusal")
	check(t, c, chat(`{"content":[{"type":"text","text":`+quote(ticket[:30])+`},{"type":"image_url"},{"type":"text","text":`+quote(ticket[30:])+`}]}`), accept, "ok")
	check(t, c, chat(`{"content":[]}`), reject, "envelope.empty_output")
	check(t, c, chat(`{"reasoning_content":`+quote(ticket)+`,"reasoning":"x"}`), reject, "envelope.empty_output")
	check(t, c, answer{protocol: providers.OpenAIChat, stream: true, body: "data: {\"choices\":[{\"index\":0,\"delta\":{\"refusal\":\"No\"}}]}\n\ndata: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"}, reject, "stop.refusal")
	check(t, c, answer{protocol: providers.OpenAIChat, stream: true, body: "data: {\"choices\":[{\"index\":0,\"delta\":{\"refusal\":\"No\"}}]}\n\n"}, unknown, "unknown.cut_stream")
	check(t, c, answer{protocol: providers.OpenAIResponses, stream: true, body: "data: {\"type\":\"response.refusal.delta\",\"delta\":\"No\"}\n\ndata: {\"type\":\"response.completed\",\"response\":{\"status\":\"completed\"}}\n\n"}, reject, "stop.refusal")
	check(t, c, answer{protocol: providers.OpenAIResponses, body: `{"status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":` + quote(ticket) + `},{"type":"refusal","refusal":"No."}]}]}`}, reject, "stop.refusal")
	check(t, c, answer{protocol: providers.OpenAIChat, body: `{"choices":[{"index":0,"message":{"refusal":"No."},"finish_reason":"length"}]}`}, reject, "stop.refusal")
}

func TestOtherChoicesAndOddEnvelopes(t *testing.T) {
	c := tickets(t)
	one := `{"index":0,"message":{"content":` + quote(ticket) + `},"finish_reason":"stop"}`
	two := `{"index":1,"message":{"content":"x"},"finish_reason":"length"}`
	check(t, c, answer{protocol: providers.OpenAIChat, body: `{"choices":[` + one + "," + two + `]}`}, accept, "ok")
	check(t, c, answer{protocol: providers.OpenAIChat, body: `{"choices":[` + two + "," + one + `]}`}, accept, "ok")
	check(t, c, answer{protocol: providers.OpenAIChat, body: `{"choices":[]}`}, reject, "envelope.missing_finish")
	check(t, c, answer{protocol: providers.OpenAIChat, body: `{"Choices":[` + one + `]}`}, reject, "envelope.missing_finish") // names have a case
	check(t, c, answer{protocol: providers.OpenAIChat, body: `{"choices":{"0":` + one + `}}`}, reject, "envelope.missing_finish")
	check(t, c, answer{protocol: providers.OpenAIChat, body: `{"choices":[` + strings.Replace(one, `"content"`, `"Content"`, 1) + `]}`}, reject, "envelope.empty_output")
	check(t, c, answer{protocol: providers.OpenAIChat, body: `{"choices":[` + strings.Replace(one, `"stop"`, `7`, 1) + `]}`}, reject, "stop.abnormal")
	check(t, c, answer{protocol: providers.Gemini, body: "[" + `{"candidates":[{"content":{"parts":[{"text":` + quote(ticket[:20]) + `}]}}]},` + `{"candidates":[{"content":{"parts":[{"text":` + quote(ticket[20:]) + `}]},"finishReason":"STOP"}]}]`}, accept, "ok")
	check(t, c, answer{protocol: providers.AnthropicMessages, body: `{"type":"message","content":[{"type":"redacted_thinking","data":"x"},{"type":"text","text":` + quote(ticket[:20]) + `},{"type":"server_tool_use","name":"x"},{"type":"text","text":` + quote(ticket[20:]) + `}],"stop_reason":"end_turn"}`}, accept, "ok")
	check(t, c, answer{protocol: providers.OllamaChat, stream: true, body: "{\n \"model\": \"orion\",\n \"message\": {\"content\": " + quote(ticket) + "},\n \"done\": true, \"done_reason\": \"stop\"\n}\n"}, accept, "ok")
	check(t, c, answer{protocol: providers.OllamaChat, stream: true, body: strings.TrimSuffix(whole(providers.OllamaChat, ticket, "stop"), "\n")}, accept, "ok") // no line feed after the last line
	deep := strings.Repeat(`{"a":`, 5000) + "1" + strings.Repeat("}", 5000)
	check(t, c, answer{protocol: providers.OpenAIChat, body: `{"x":` + deep + `,"n":1e999999999,"choices":[` + one + `]}`}, accept, "ok") // the envelope's other fields are the provider's business
}

func TestProfilesMayNameStatusesAndModels(t *testing.T) {
	c := tickets(t)
	a := answer{protocol: providers.OpenAIChat, status: 502, body: "x"}.transcript()
	a.Refused = []int{502}
	if j := judgeTranscript(c, a); j.Verdict != failure || j.Reason != "error.rejected" {
		t.Errorf("%+v", j)
	}
	b := answer{protocol: providers.OpenAIChat, model: "alias", body: whole(providers.OpenAIChat, ticket, "stop")}.transcript()
	b.Served = []string{"orion"}
	if j := judgeTranscript(c, b); j.Verdict != accept {
		t.Errorf("%+v", j)
	}
	for limit, want := range map[string]string{"oversize": "envelope.oversize", "encoding": "envelope.encoding"} {
		l := answer{protocol: providers.OpenAIChat, body: "{"}.transcript()
		l.Limit = limit
		if j := judgeTranscript(c, l); j.Verdict != reject || j.Reason != want {
			t.Errorf("%+v", j)
		}
	}
	for reach, want := range map[providers.Reach]providers.Verdict{providers.ReachNotSent: failure, providers.ReachSent: unknown} {
		n := providers.Transcript{Protocol: providers.OpenAIChat, Reach: reach, End: providers.EndNone}
		if j := judgeTranscript(c, n); j.Verdict != want {
			t.Errorf("%s: %+v", reach, j)
		}
	}
}

func TestPlacesAndDetails(t *testing.T) {
	c := tickets(t)
	list, _ := events(providers.OpenAIChat, "length", ticket[:20], ticket[20:])
	for _, tt := range []struct {
		a    answer
		want string
	}{
		{answer{protocol: providers.OpenAIChat, body: whole(providers.OpenAIChat, ticket, "length")}, "body /choices/0/finish_reason"},
		{answer{protocol: providers.OpenAIChat, stream: true, body: ": x\n\n" + strings.Join(list, "")}, "event 4 /choices/0/finish_reason"},
		{answer{protocol: providers.OpenAIChat, stream: true, body: list[0] + "data: oops\n\n" + list[3]}, "event 2"},
		{answer{protocol: providers.AnthropicMessages, body: errorShapes["anthropic"]}, "body /error"},
		{answer{protocol: providers.OpenAIChat, status: 504}, "status 504"},
		{answer{protocol: providers.OpenAIChat, status: 503, body: errorShapes["openai"], header: map[string]string{"Retry-After": "1"}}, "header Retry-After"},
		{answer{protocol: providers.OpenAIChat, model: "x", body: whole(providers.OpenAIChat, ticket, "stop")}, "body /model"},
		{answer{protocol: providers.OpenAIResponses, max: 1, body: whole(providers.OpenAIResponses, ticket, "completed")}, "body /usage/output_tokens"},
		{answer{protocol: providers.OpenAIChat, body: whole(providers.OpenAIChat, strings.Replace(ticket, `"77"`, `"7.7"`, 1), "stop")}, "output /tags/1"},
		{answer{protocol: providers.OpenAIChat, body: whole(providers.OpenAIChat, ticket+" x", "stop")}, "output byte " + strconv.Itoa(len(ticket)+1)},
		{answer{protocol: providers.OpenAIChat, body: whole(providers.OpenAIChat, strings.Replace(ticket, "billing", "other", 1), "stop")}, "rule business.queue"},
		{answer{protocol: providers.Gemini, mode: providers.ModeTool, body: calling(providers.Gemini, "STOP", [2]string{"x", "{}"})}, "body /candidates/0/content/parts/0/functionCall"},
	} {
		if j := judgeTranscript(c, tt.a.transcript()); j.Place != tt.want {
			t.Errorf("%s at %q, want %q", j.Reason, j.Place, tt.want)
		}
	}
	hostile := strings.Replace(ticket, "]}", `],"\u001b[2J\u202e`+strings.Repeat("x", 500)+`":1}`, 1)
	j := judgeTranscript(c, answer{protocol: providers.OpenAIChat, body: whole(providers.OpenAIChat, hostile, "stop")}.transcript())
	if j.Reason != "schema.extra_key" || strings.ContainsAny(j.Place+j.Detail, "\x1b\u202e") || len(j.Place)+len(j.Detail) > 1200 {
		t.Errorf("%+v", j)
	}
}

func judgeTranscript(c *contract.Contract, t providers.Transcript) providers.Judgement {
	return judge.Judge(c, c.Case(contract.ReferenceCase), t)
}
