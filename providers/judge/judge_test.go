package judge_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/interlock-harness/interlock/providers"
)

const (
	accept  = providers.Accept
	reject  = providers.Reject
	failure = providers.DefiniteFailure
	unknown = providers.Unknown
)

func streams(p providers.Protocol) bool { return p != providers.BedrockConverse }

func TestGoodAnswersOfEveryProtocol(t *testing.T) {
	c := tickets(t)
	for _, p := range everywhere {
		check(t, c, answer{protocol: p, body: whole(p, ticket, normal[p])}, accept, "ok")
		check(t, c, answer{protocol: p, body: "\n \r\n" + whole(p, "\n "+ticket+"\t\n", normal[p])}, accept, "ok")
		check(t, c, answer{protocol: p, body: whole(p, ticket, normal[p]), end: providers.EndReset}, accept, "ok")
		check(t, c, answer{protocol: p, mode: providers.ModeTool, body: calling(p, normal[p], [2]string{"file_ticket", ticket})}, accept, "ok")
		check(t, c, answer{protocol: p, body: whole(p, strings.Replace(ticket, `"urgency":2`, `"urgency":2.0`, 1), normal[p])}, accept, "ok")
		check(t, c, answer{protocol: p, body: whole(p, strings.Replace(ticket, `"2026-12-01"`, `null`, 1), normal[p])}, accept, "ok")
	}
	for p, word := range map[providers.Protocol]string{
		providers.OpenAIChat: "tool_calls", providers.MistralChat: "tool_calls", providers.VLLMChat: "tool_calls", providers.LlamaCppChat: "tool_calls", providers.AnthropicMessages: "tool_use", providers.BedrockConverse: "tool_use", providers.CohereChat: "TOOL_CALL",
	} {
		check(t, c, answer{protocol: p, mode: providers.ModeTool, body: calling(p, word, [2]string{"file_ticket", ticket})}, accept, "ok")
	}
	check(t, c, answer{protocol: providers.AnthropicMessages, body: whole(providers.AnthropicMessages, ticket, "stop_sequence")}, accept, "ok")
}

// TestStreamsCutAnywhere cuts every stream after every event, in every way: until
// the end is stated the verdict is unknown, from then on it is what the text says.
func TestStreamsCutAnywhere(t *testing.T) {
	c := tickets(t)
	for _, p := range everywhere {
		if !streams(p) {
			continue
		}
		for _, mode := range []providers.Mode{providers.ModeJSONSchema, providers.ModeTool} {
			list, stated := events(p, normal[p], ticket[:20], ticket[20:41], ticket[41:])
			if mode == providers.ModeTool {
				list, stated = callEvents(p, normal[p], "file_ticket", ticket[:20], ticket[20:41], ticket[41:])
			}
			for n := range len(list) + 1 {
				for _, end := range []providers.End{providers.EndEOF, providers.EndReset, providers.EndUnterminated, providers.EndStall} {
					a := answer{protocol: p, mode: mode, stream: true, body: strings.Join(list[:n], ""), end: end}
					if n < stated {
						check(t, c, a, unknown, "unknown.cut_stream")
					} else {
						check(t, c, a, accept, "ok")
					}
					if n < len(list) { // in the middle of the next event: as if it had not begun
						half := a
						half.body += list[n][:len(list[n])/2]
						if n < stated {
							check(t, c, half, unknown, "unknown.cut_stream")
						} else {
							check(t, c, half, accept, "ok")
						}
					}
				}
			}
			crlf := answer{protocol: p, mode: mode, stream: true, body: strings.ReplaceAll(strings.Join(list, ""), "\n", "\r\n")}
			check(t, c, crlf, accept, "ok")
			if p != providers.OllamaChat {
				check(t, c, answer{protocol: p, mode: mode, stream: true, body: strings.ReplaceAll(strings.Join(list, ": ping\n\nid: 3\nretry: 5\n\n"), "\n", "\r")}, accept, "ok")
				check(t, c, answer{protocol: p, mode: mode, stream: true, body: "\ufeff" + strings.Join(list, "")}, accept, "ok")
			}
		}
	}
}

func TestEndsThatAreStated(t *testing.T) {
	c := tickets(t)
	for _, tt := range []struct {
		p       providers.Protocol
		word    string
		verdict providers.Verdict
		reason  string
	}{
		{providers.OpenAIChat, "length", reject, "stop.length"}, {providers.OpenAIChat, "content_filter", reject, "stop.content_filter"},
		{providers.OpenAIChat, "function_call", reject, "stop.abnormal"}, {providers.OpenAIChat, "STOP", reject, "stop.abnormal"}, {providers.OpenAIChat, "end_turn", reject, "stop.abnormal"},
		{providers.OpenAIChat, "error", failure, "error"}, {providers.OpenAIChat, "network_error", failure, "error"}, {providers.OpenAIChat, "insufficient_system_resource", failure, "error"},
		{providers.OpenAIChat, "eos", reject, "stop.abnormal"}, {providers.OpenAIChat, "max_tokens", reject, "stop.length"}, {providers.OpenAIChat, "refusal", reject, "stop.refusal"},
		{providers.VLLMChat, "abort", failure, "error"}, {providers.VLLMChat, "repetition", reject, "stop.length"}, {providers.VLLMChat, "length", reject, "stop.length"},
		{providers.LlamaCppChat, "length", reject, "stop.length"}, {providers.LlamaCppChat, "limit", reject, "stop.abnormal"},
		{providers.MistralChat, "model_length", reject, "stop.length"}, {providers.MistralChat, "error", failure, "error"}, {providers.MistralChat, "length", reject, "stop.length"},
		{providers.OpenAIResponses, "failed", failure, "error"}, {providers.OpenAIResponses, "incomplete", reject, "stop.abnormal"}, {providers.OpenAIResponses, "cancelled", reject, "stop.abnormal"},
		{providers.OpenAIResponses, "stop", reject, "stop.abnormal"},
		{providers.AnthropicMessages, "max_tokens", reject, "stop.length"}, {providers.AnthropicMessages, "model_context_window_exceeded", reject, "stop.length"},
		{providers.AnthropicMessages, "refusal", reject, "stop.refusal"}, {providers.AnthropicMessages, "pause_turn", reject, "stop.abnormal"}, {providers.AnthropicMessages, "stop", reject, "stop.abnormal"},
		{providers.Gemini, "MAX_TOKENS", reject, "stop.length"}, {providers.Gemini, "SAFETY", reject, "stop.content_filter"}, {providers.Gemini, "RECITATION", reject, "stop.content_filter"},
		{providers.Gemini, "BLOCKLIST", reject, "stop.content_filter"}, {providers.Gemini, "PROHIBITED_CONTENT", reject, "stop.content_filter"}, {providers.Gemini, "SPII", reject, "stop.content_filter"},
		{providers.Gemini, "OTHER", reject, "stop.abnormal"}, {providers.Gemini, "MALFORMED_FUNCTION_CALL", reject, "stop.abnormal"}, {providers.Gemini, "stop", reject, "stop.abnormal"}, {providers.Gemini, "UNEXPECTED_TOOL_CALL", reject, "stop.abnormal"},
		{providers.CohereChat, "MAX_TOKENS", reject, "stop.length"}, {providers.CohereChat, "ERROR", failure, "error"}, {providers.CohereChat, "TIMEOUT", reject, "stop.abnormal"}, {providers.CohereChat, "STOP_SEQUENCE", reject, "stop.abnormal"}, {providers.CohereChat, "complete", reject, "stop.abnormal"},
		{providers.BedrockConverse, "max_tokens", reject, "stop.length"}, {providers.BedrockConverse, "guardrail_intervened", reject, "stop.content_filter"}, {providers.BedrockConverse, "content_filtered", reject, "stop.content_filter"}, {providers.BedrockConverse, "malformed_model_output", reject, "stop.abnormal"},
		{providers.OllamaChat, "length", reject, "stop.length"}, {providers.OllamaChat, "load", reject, "stop.abnormal"},
	} {
		check(t, c, answer{protocol: tt.p, body: whole(tt.p, ticket, tt.word)}, tt.verdict, tt.reason)
		if !streams(tt.p) {
			continue
		}
		list, _ := events(tt.p, tt.word, ticket[:30], ticket[30:])
		check(t, c, answer{protocol: tt.p, stream: true, body: strings.Join(list, "")}, tt.verdict, tt.reason)
		check(t, c, answer{protocol: tt.p, stream: true, body: strings.Join(list, ""), end: providers.EndReset}, tt.verdict, tt.reason)
	}
	for _, p := range everywhere {
		check(t, c, answer{protocol: p, body: whole(p, ticket, "")}, reject, "envelope.missing_finish")
		if p != providers.OllamaChat { // there done is the end marker, a word for the end or not
			check(t, c, answer{protocol: p, body: whole(p, ticket, ""), end: providers.EndUnterminated}, unknown, "unknown")
		}
		check(t, c, answer{protocol: p, body: `{"id":"x"}`}, reject, "envelope.missing_finish")
	}
	check(t, c, answer{protocol: providers.OpenAIResponses, body: `{"status":"incomplete","incomplete_details":{"reason":"content_filter"},"output":[]}`}, reject, "stop.content_filter")
	check(t, c, answer{protocol: providers.OpenAIResponses, body: `{"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},"output":[]}`}, reject, "stop.length")
	check(t, c, answer{protocol: providers.OpenAIResponses, body: `{"status":"queued","output":[],"model":"orion"}`}, unknown, "unknown")
	check(t, c, answer{protocol: providers.OpenAIResponses, body: `{"status":"in_progress","output":[],"model":"orion"}`}, unknown, "unknown")
	check(t, c, answer{protocol: providers.Gemini, body: `{"promptFeedback":{"blockReason":"SAFETY"},"modelVersion":"orion"}`}, reject, "stop.content_filter")
	check(t, c, answer{protocol: providers.Gemini, stream: true, body: `data: {"promptFeedback":{"blockReason":"OTHER"}}` + "\n\n"}, reject, "stop.content_filter")
	check(t, c, answer{protocol: providers.OllamaChat, body: `{"model":"orion","message":{"content":` + quote(ticket) + `},"done":false}`}, reject, "envelope.missing_finish")
	check(t, c, answer{protocol: providers.OpenAIChat, stream: true, body: "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":" + quote(ticket) + "}}]}\n\ndata: [DONE]\n\n"}, reject, "envelope.missing_finish")
	check(t, c, answer{protocol: providers.AnthropicMessages, stream: true, body: "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"}, reject, "envelope.missing_finish")
	check(t, c, answer{protocol: providers.OpenAIChat, body: strings.Replace(whole(providers.OpenAIChat, ticket, "stop"), `"stop"`, `""`, 1)}, reject, "envelope.missing_finish")
}

func TestTextThatIsNotOneJSONValue(t *testing.T) {
	c := tickets(t)
	for text, reason := range map[string]string{
		"```json\n" + ticket + "\n```":                   "json.fenced",
		"```\n" + ticket + "\n```":                       "json.fenced",
		"```JSON\r\n" + ticket + "```":                   "json.fenced",
		"~~~\n" + ticket + "\n~~~":                       "json.fenced",
		"`" + ticket + "`":                               "json.fenced",
		"Here it is:\n```json\n" + ticket + "\n```\nBye": "json.fenced",
		"```json\n" + ticket[:40]:                        "json.fenced",
		ticket + "\n```":                                 "json.fenced",
		"Sure! " + ticket:                                "json.prose",
		"json\n" + ticket:                                "json.prose",
		"JSON: " + ticket:                                "json.prose",
		ticket + "\n\nI hope that helps {a lot}.":        "json.prose",
		ticket + " <- the ticket":                        "json.prose",
		ticket + "\nEND":                                 "json.prose",
		"**Ticket**\n" + ticket:                          "json.prose",
		"[Note] " + ticket:                               "json.prose",
		"I cannot help with that.":                       "json.prose",
		"ഇത് ഒരു ടിക്കറ്റ് ആണ്":                                                   "json.prose",
		"queue: billing\nurgency: 2":                                              "json.prose",
		"<ticket><queue>billing</queue></ticket>":                                 "json.prose",
		"12 tickets were found":                                                   "json.prose",
		"<think>ok</think>" + ticket:                                              "json.think_block",
		"<thinking>\n{\"a\":1}\n</thinking>\n" + ticket:                           "json.think_block",
		"<reasoning>x</reasoning>\n```json\n" + ticket:                            "json.think_block",
		"[THINK]x[/THINK]" + ticket:                                               "json.think_block",
		"◁think▷x◁/think▷" + ticket:                                               "json.think_block",
		"So it is billing.\n</think>\n\n" + ticket:                                "json.think_block",
		"<think>never closed, then nothing":                                       "json.think_block",
		ticket + "</s>":                                                           "json.special_token",
		ticket + "<|im_end|>":                                                     "json.special_token",
		ticket + "<|eot_id|>":                                                     "json.special_token",
		ticket + "<｜end▁of▁sentence｜>":                                            "json.special_token",
		ticket + "<end_of_turn>":                                                  "json.special_token",
		"<start_of_turn>model\n" + ticket:                                         "json.special_token",
		"<|channel|>final<|message|>" + ticket + "<|return|>":                     "json.special_token",
		"[INST]" + ticket + "[/INST]":                                             "json.special_token",
		"<s> " + ticket:                                                           "json.special_token",
		"<tool_call>" + ticket + "</tool_call>":                                   "json.special_token",
		ticket[:len(ticket)-1] + "<|endoftext|>":                                  "json.special_token",
		ticket + ticket:                                                           "json.concatenated",
		ticket + "\n" + ticket + "\n":                                             "json.concatenated",
		ticket + ",\n" + ticket:                                                   "json.concatenated",
		ticket + " []":                                                            "json.concatenated",
		ticket + "\n" + ticket[:30]:                                               "json.concatenated",
		ticket + " null":                                                          "json.concatenated",
		ticket[:len(ticket)-1]:                                                    "json.truncated",
		ticket[:25]:                                                               "json.truncated",
		"{":                                                                       "json.truncated",
		`{"queue":"bill`:                                                          "json.truncated",
		ticket[:len(ticket)-2]:                                                    "json.truncated",
		ticket + "}":                                                              "json.syntax",
		strings.Replace(ticket, "]}", "],}", 1):                                   "json.syntax",
		strings.ReplaceAll(ticket, `"`, "'"):                                      "json.syntax",
		strings.Replace(ticket, `"queue"`, "queue", 1):                            "json.syntax",
		strings.Replace(ticket, `"queue":"billing"`, "", 1):                       "json.syntax",
		strings.Replace(ticket, "0.85", "NaN", 1):                                 "json.syntax",
		strings.Replace(ticket, "0.85", ".85", 1):                                 "json.syntax",
		strings.Replace(ticket, "0.85", "+0.85", 1):                               "json.syntax",
		strings.Replace(ticket, ":2,", ":02,", 1):                                 "json.syntax",
		strings.Replace(ticket, ":2,", ":2", 1):                                   "json.syntax",
		strings.Replace(ticket, ":2,", ":2, // high\n", 1):                        "json.syntax",
		strings.Replace(ticket, ":2,", ":2;", 1):                                  "json.syntax",
		strings.Replace(ticket, "billing", "bill\ning", 1):                        "json.syntax",
		strings.Replace(ticket, "billing", "bill\ting", 1):                        "json.syntax",
		strings.Replace(ticket, "billing", `bill\x69ng`, 1):                       "json.syntax",
		strings.Replace(ticket, "billing", `\ud83d`, 1):                           "json.syntax",
		strings.Replace(ticket, `"queue"`, "“queue”", 1):                          "json.syntax",
		strings.Replace(ticket, ":2,", ":True,", 1):                               "json.syntax",
		strings.Replace(ticket, ":2,", ":1e1000001,", 1):                          "json.syntax",
		strings.Repeat("[", 65) + strings.Repeat("]", 65):                         "json.syntax",
		"\ufeff" + ticket:                                                         "json.syntax",
		"\u00a0" + ticket:                                                         "json.syntax",
		"'" + ticket + "'":                                                        "json.syntax",
		"(" + ticket + ")":                                                        "json.syntax",
		"None":                                                                    "json.syntax",
		"undefined":                                                               "json.syntax",
		strings.Replace(ticket, "{", `{"queue":"other",`, 1):                      "json.duplicate_key",
		strings.Replace(ticket, "{", `{"\u0071ueue":"billing",`, 1):               "json.duplicate_key",
		strings.Replace(ticket, "]}", `],"order":{"no":1,"no":1}}`, 1):            "json.duplicate_key",
		strings.Replace(ticket, "{", `{"queue":"other",`, 1) + "\n```":            "json.fenced",
		strings.TrimSuffix(strings.Replace(ticket, "{", `{"queue":"x",`, 1), "}"): "json.truncated",
	} {
		for _, p := range everywhere {
			check(t, c, answer{protocol: p, body: whole(p, text, normal[p])}, reject, reason)
		}
	}
	for _, p := range everywhere {
		for _, blank := range []string{"", " ", "\n\t\r\n", "\u00a0"} {
			check(t, c, answer{protocol: p, body: whole(p, blank, normal[p])}, reject, "envelope.empty_output")
		}
	}
}

func TestValuesThatBreakTheSchemaOrARule(t *testing.T) {
	c := tickets(t)
	put := func(old, now string) string { return strings.Replace(ticket, old, now, 1) }
	for text, reason := range map[string]string{
		`[` + ticket + `]`:                       "schema.wrong_type",
		quote(ticket):                            "schema.wrong_type",
		"12":                                     "schema.wrong_type",
		"true":                                   "schema.wrong_type",
		"null":                                   "schema.null",
		`{"ticket":` + ticket + `}`:              "schema.wrapper",
		`{"tickets":[` + ticket + `]}`:           "schema.wrapper",
		`{"success":true,"data":` + ticket + `}`: "schema.wrapper",
		`{"properties":` + ticket + `,"type":"object"}`:      "schema.wrapper",
		`{"file_ticket":{"arguments":` + ticket + `}}`:       "schema.wrapper",
		put(`"queue":"billing",`, ""):                        "schema.missing_key",
		put(`"queue"`, `"Queue"`):                            "schema.missing_key",
		"{}":                                                 "schema.missing_key",
		put(`]}`, `],"order":{}}`):                           "schema.missing_key",
		put(`]}`, `],"confidence":1}`):                       "schema.extra_key",
		put(`]}`, `],"order":{"no":1,"id":2}}`):              "schema.extra_key",
		put(`]}`, `],"constructor":null}`):                   "schema.extra_key",
		put(`["refund","77"]`, "null"):                       "schema.null",
		put(`["refund","77"]`, "[null]"):                     "schema.null",
		put(`:2,`, `:null,`):                                 "schema.null",
		put(`["refund","77"]`, `"refund"`):                   "schema.wrong_type",
		put(`:2,`, `:"2",`):                                  "schema.wrong_type",
		put(`:2,`, `:2.5,`):                                  "schema.wrong_type",
		put(`:2,`, `:true,`):                                 "schema.wrong_type",
		put(`0.85`, `"85%"`):                                 "schema.wrong_type",
		put(`"2026-12-01"`, `20261201`):                      "schema.wrong_type",
		put(`"billing"`, `"Billing"`):                        "schema.enum",
		put(`"billing"`, `"billing "`):                       "schema.enum",
		put(`"billing"`, `null`):                             "schema", // an enum without a type
		put(`"2026-12-01"`, `"1 December 2026"`):             "schema.format",
		put(`"2026-12-01"`, `"2026-12-32"`):                  "schema.format",
		put(`"2026-12-01"`, `"2026-2-1"`):                    "schema.format",
		put(`"2026-12-01"`, `""`):                            "schema.format",
		put(`"refund"`, `"Re-fund"`):                         "schema.format",
		put(`:2,`, `:0,`):                                    "schema.range",
		put(`:2,`, `:6,`):                                    "schema.range",
		put(`0.85`, `1.0000000000000000001`):                 "schema.range",
		put(`0.85`, `85`):                                    "schema.range",
		put(`"77"`, `"77","77"`):                             "schema.range",
		put(`"77"`, `"a","b","c"`):                           "schema.range",
		put(`]}`, `],"order":{"no":1,"note":""}}`):           "schema.range",
		put(`"billing","urgency":2`, `"outage","urgency":3`): "business.urgency",
		put(`"77"`, `"late"`):                                "business.tags",
		put(`"billing"`, `"other"`):                          "business.queue",
		put(`"billing","urgency":2`, `"outage","urgency":4`): "business.queue",
	} {
		for _, p := range everywhere {
			check(t, c, answer{protocol: p, body: whole(p, text, normal[p])}, reject, reason)
			if takesString(p) || strings.HasPrefix(text, "{") {
				check(t, c, answer{protocol: p, mode: providers.ModeTool, body: calling(p, normal[p], [2]string{"file_ticket", text})}, reject, reason)
			}
		}
	}
	for text, want := range map[string]string{
		put(`:2,`, `:0.2e1,`): "ok", put(`0.85`, `1`): "ok", put(`0.85`, `0`): "ok", put(`0.85`, `85e-2`): "ok", put(`"77"`, `"twice"`): "ok",
		put(`]}`, `],"order":{"no":9007199254740993}}`): "ok", put(`"refund","77"`, ""): "ok",
	} {
		check(t, c, answer{protocol: providers.OpenAIChat, body: whole(providers.OpenAIChat, text, "stop")}, accept, want)
	}
}

func TestCallsThatAreNoGood(t *testing.T) {
	c := tickets(t)
	good := [2]string{"file_ticket", ticket}
	for _, p := range everywhere {
		tool := func(body string) answer { return answer{protocol: p, mode: providers.ModeTool, body: body} }
		end := normal[p]
		check(t, c, tool(calling(p, end, good, good)), reject, "tool.duplicate_call")
		check(t, c, tool(calling(p, end, good, [2]string{"other", "{}"})), reject, "tool.duplicate_call")
		check(t, c, tool(calling(p, end, [2]string{"fileTicket", ticket})), reject, "tool.wrong_name")
		check(t, c, tool(calling(p, end, [2]string{"functions.file_ticket", ticket})), reject, "tool.wrong_name")
		check(t, c, tool(calling(p, end, [2]string{"file_ticket ", ticket})), reject, "tool.wrong_name")
		check(t, c, tool(calling(p, end, [2]string{"", ticket})), reject, "tool.wrong_name")
		check(t, c, tool(whole(p, ticket, end)), reject, "tool.in_text")
		check(t, c, tool(whole(p, "<tool_call>{\"name\":\"file_ticket\"}</tool_call>", end)), reject, "tool.in_text")
		check(t, c, tool(whole(p, " \n", end)), reject, "envelope.empty_output")
		check(t, c, tool(calling(p, end, [2]string{"file_ticket", strings.Replace(ticket, "{", `{"queue":"other",`, 1)})), reject, "json.duplicate_key")
		check(t, c, tool(calling(p, end, [2]string{"file_ticket", strings.Replace(ticket, ":2,", ":1e1000001,", 1)})), reject, "json.syntax")
		if takesString(p) {
			for _, bad := range []string{"", " ", ticket[:40], ticket + ticket, "'" + ticket + "'", "```json\n" + ticket + "```", "None", ticket + "</s>", strings.ReplaceAll(ticket, `"`, "'")} {
				check(t, c, tool(calling(p, end, [2]string{"file_ticket", bad})), reject, "tool.bad_arguments")
			}
			check(t, c, tool(calling(p, end, [2]string{"file_ticket", "[]"})), reject, "schema.wrong_type")
			check(t, c, tool(calling(p, end, [2]string{"file_ticket", quote(ticket)})), reject, "schema.wrong_type")
			raw := strings.Replace(calling(p, end, good), quote(ticket), ticket, 1)
			check(t, c, tool(raw), reject, "tool.bad_arguments")
			check(t, c, tool(strings.Replace(calling(p, end, good), quote(ticket), "null", 1)), reject, "tool.bad_arguments")
		} else {
			for _, bad := range []string{quote(ticket), "[" + ticket + "]", "null", "12"} {
				check(t, c, tool(calling(p, end, [2]string{"file_ticket", bad})), reject, "tool.bad_arguments")
			}
		}
	}
	for _, p := range []providers.Protocol{providers.OpenAIChat, providers.MistralChat, providers.OpenAIResponses, providers.AnthropicMessages, providers.CohereChat} {
		tool := func(pieces ...string) answer {
			list, _ := callEvents(p, normal[p], "file_ticket", pieces...)
			return answer{protocol: p, mode: providers.ModeTool, stream: true, body: strings.Join(list, "")}
		}
		check(t, c, tool(ticket[:30], ticket[30:60]), reject, "tool.bad_arguments")
		check(t, c, tool(ticket, ticket), reject, "tool.bad_arguments")
		if p != providers.AnthropicMessages { // there the input of the start, {}, counts where no piece follows
			check(t, c, tool(), reject, "tool.bad_arguments")
		} else {
			check(t, c, tool(), reject, "schema.missing_key")
			check(t, c, tool("12"), reject, "tool.bad_arguments")
		}
		field := map[providers.Protocol]string{providers.OpenAIResponses: `"output_index":0,`}[p]
		if field == "" {
			field = `"index":0,`
		}
		whole := tool(ticket)
		lost := strings.NewReplacer(`"tool_calls":[{"index":0,`, `"tool_calls":[{`, `"output_index":0,`, "", `"type":"content_block_delta","index":0,`, `"type":"content_block_delta",`, `"type":"tool-call-delta","index":0,`, `"type":"tool-call-delta",`).Replace(whole.body)
		if lost == whole.body {
			t.Fatalf("%s: nothing replaced", p)
		}
		whole.body = lost
		check(t, c, whole, reject, "envelope.malformed_stream")
		whole.end = providers.EndReset
		check(t, c, whole, reject, "envelope.malformed_stream") // its end was stated all the same
		named := tool(ticket)
		named.body = strings.ReplaceAll(named.body, field, strings.Replace(field, ":0", `:"0"`, 1))
		check(t, c, named, reject, "envelope.malformed_stream")
	}
}

func TestPiecesOfCallsAreTiedByTheirIndex(t *testing.T) {
	c := tickets(t)
	chunk := func(calls string) string {
		return `data: {"choices":[{"index":0,"delta":{"tool_calls":[` + calls + `]}}]}` + "\n\n"
	}
	end := `data: {"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}` + "\n\n"
	piece := func(i int, s string) string {
		return fmt.Sprintf(`{"index":%d,"function":{"arguments":%s}}`, i, quote(s))
	}
	begin := func(i int, name string) string {
		return fmt.Sprintf(`{"index":%d,"id":"c%d","type":"function","function":{"name":%s,"arguments":""}}`, i, i, quote(name))
	}
	tool := func(body string) answer {
		return answer{protocol: providers.OpenAIChat, mode: providers.ModeTool, stream: true, body: body}
	}
	check(t, c, tool(chunk(begin(0, "file_ticket"))+chunk(piece(0, ticket[:9]))+chunk(piece(0, ticket[9:]))+end), accept, "ok")
	check(t, c, tool(chunk(begin(3, "file_ticket"))+chunk(piece(3, ticket))+end), accept, "ok")
	check(t, c, tool(chunk(begin(0, "file_ticket"))+chunk(`{"index":0,"id":"c0","function":{"name":"file_ticket","arguments":`+quote(ticket)+`}}`)+end), accept, "ok")
	check(t, c, tool(chunk(begin(0, "file_ticket")+","+begin(1, "file_ticket"))+chunk(piece(1, ticket[:9]))+chunk(piece(0, ticket[:9]))+chunk(piece(0, ticket[9:]))+chunk(piece(1, ticket[9:]))+end), reject, "tool.duplicate_call")
	check(t, c, tool(chunk(begin(0, "file_ticket"))+chunk(piece(0, ticket[:9]))+chunk(piece(1, ticket[9:]))+end), reject, "tool.duplicate_call")
	// A character whose two halves come as escapes in two pieces is one character.
	check(t, c, answer{protocol: providers.OpenAIChat, stream: true, body: `data: {"choices":[{"index":0,"delta":{"content":"{\"queue\":\"\ud83d"}}]}` + "\n\n" +
		`data: {"choices":[{"index":0,"delta":{"content":"\ude00\"}"},"finish_reason":"stop"}]}` + "\n\n"}, reject, "schema.missing_key")
	check(t, c, answer{protocol: providers.OpenAIChat, stream: true, body: `data: {"choices":[{"index":0,"delta":{"content":"{\"queue\":\"\ud83d"}}]}` + "\n\n" +
		`data: {"choices":[{"index":0,"delta":{"content":"\"}"},"finish_reason":"stop"}]}` + "\n\n"}, reject, "json.syntax")
}
