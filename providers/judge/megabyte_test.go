package judge_test

import (
	"fmt"
	"strings"

	"github.com/interlock-harness/interlock/providers"
)

// megabytes are answers of 1 MiB that try to cost much.
func megabytes() map[string]answer {
	const size = 1 << 20
	fill := func(unit string) string { return strings.TrimSuffix(strings.Repeat(unit, size/len(unit)), ",") }
	chat := func(text string) answer {
		return answer{protocol: providers.OpenAIChat, body: whole(providers.OpenAIChat, text, "stop")}
	}
	item := `{"sku":"PEN-BLU-01","qty":12,"unit_price_cents":120},`
	items := func(list string, total int) string {
		return fmt.Sprintf(`{"invoice_id":"INV-2026-0417","currency":"EUR","issued_on":"2026-11-12","line_items":[%s],"total_cents":%d}`, list, total)
	}
	keys := func() string {
		var b strings.Builder
		for i := 0; b.Len() < size; i++ {
			fmt.Fprintf(&b, `"k%d":0,`, i)
		}
		return strings.TrimSuffix(b.String(), ",")
	}()
	var small strings.Builder
	for small.Len() < size {
		small.WriteString("data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\" \"}}]}\n\n")
	}
	var parts, calls strings.Builder
	for i := 0; parts.Len() < size; i++ {
		fmt.Fprintf(&parts, "data: {\"type\":\"response.output_text.delta\",\"output_index\":%d,\"delta\":\"x\"}\n\n", i)
	}
	for i := 0; calls.Len() < size; i++ {
		fmt.Fprintf(&calls, `{"index":%d},`, i)
	}
	var blocks, arguments, alike strings.Builder
	for i := 0; blocks.Len() < size; i++ {
		fmt.Fprintf(&blocks, "data: {\"type\":\"content_block_start\",\"index\":%d,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n", i)
	}
	arguments.WriteString("data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"submit\",\"input\":{}}}\n\n")
	for arguments.Len() < size {
		arguments.WriteString("data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"[\"}}\n\n")
	}
	for i := 0; alike.Len() < size; i++ {
		fmt.Fprintf(&alike, `"\\u00%02x%d":0,`, 'a'+i%26, i)
	}
	return map[string]answer{
		"many good lines":                   chat(items(fill(item), (size/len(item))*1440)),
		"many bad lines":                    chat(items(fill(`{"a":1},`), 1)),
		"many numbers":                      chat(items(fill("1,"), 1)),
		"fractions":                         chat(items(strings.ReplaceAll(fill(item), `"qty":12,`, `"qty":1.5e-300,`), 1)),
		"brackets":                          chat(strings.Repeat("[", size)),
		"opened strings":                    chat(fill(`"{[`)),
		"prose with brackets":               chat(fill("a { b [ ")),
		"many keys":                         chat("{" + keys + "}"),
		"many lines of items":               chat(fill(`{"a":1}` + "\n")),
		"one long string":                   chat(`{"invoice_id":"` + strings.Repeat("x", size) + `"}`),
		"escapes":                           chat(strings.Repeat(`"\\u00e9`, size/8)),
		"halved characters":                 {protocol: providers.OpenAIChat, body: `{"choices":[{"index":0,"finish_reason":"stop","message":{"content":"` + strings.Repeat(`\ud83d`, size/6) + `"}}]}`},
		"special tokens":                    chat(strings.Repeat("<|x", size/3)),
		"markup":                            chat(strings.Repeat("<think>", size/7)),
		"fences":                            chat(strings.Repeat("```", size/3)),
		"a body of brackets":                {protocol: providers.OpenAIChat, body: strings.Repeat("[", size)},
		"a body of objects":                 {protocol: providers.OpenAIChat, body: `{"choices":[` + fill(`{"index":1},`) + `]}`},
		"a list of errors":                  {protocol: providers.Gemini, body: `[` + fill(`{"error":null},`) + `]`},
		"small events":                      {protocol: providers.OpenAIChat, stream: true, body: small.String()},
		"blank lines":                       {protocol: providers.OpenAIChat, stream: true, body: strings.Repeat("\n", size)},
		"comments":                          {protocol: providers.OpenAIChat, stream: true, body: strings.Repeat(":\n", size/2)},
		"empty events":                      {protocol: providers.OpenAIChat, stream: true, body: strings.Repeat("data\n\n", size/6)},
		"one event":                         {protocol: providers.OpenAIChat, stream: true, body: strings.Repeat("data:1\n", size/7)},
		"parts":                             {protocol: providers.OpenAIResponses, stream: true, body: parts.String()},
		"calls":                             {protocol: providers.OpenAIChat, mode: providers.ModeTool, stream: true, body: `data: {"choices":[{"index":0,"delta":{"tool_calls":[` + strings.TrimSuffix(calls.String(), ",") + `]}}]}` + "\n\n"},
		"calls in a body":                   {protocol: providers.Gemini, mode: providers.ModeTool, body: `{"candidates":[{"content":{"parts":[` + fill(`{"functionCall":{"name":"x"}},`) + `]},"finishReason":"STOP"}]}`},
		"arguments":                         {protocol: providers.AnthropicMessages, mode: providers.ModeTool, body: calling(providers.AnthropicMessages, "tool_use", [2]string{"file_ticket", `{"a":[` + fill("[],") + `]}`})},
		"a long number":                     chat(items("1"+strings.Repeat("0", size), 1)),
		"long exponents":                    chat(items(fill("1e"+strings.Repeat("9", 40)+","), 1)),
		"numbers that are fine":             chat(items(fill("-1.0625e-17,"), 1)),
		"a key again and again":             chat("{" + fill(`"k":0,`) + "}"),
		"escaped keys":                      chat("{" + strings.TrimSuffix(alike.String(), ",") + "}"),
		"a body with a key again and again": {protocol: providers.BedrockConverse, body: "{" + fill(`"usage":null,`) + "}"},
		"no UTF-8":                          {protocol: providers.OpenAIChat, body: whole(providers.OpenAIChat, "", "stop") + strings.Repeat("\xff", size)},
		"no UTF-8 in a string":              {protocol: providers.AnthropicMessages, body: `{"type":"message","content":[{"type":"text","text":"` + strings.Repeat("\xe0\xa0", size/2) + `"}]}`},
		"no UTF-8 in events":                {protocol: providers.CohereChat, stream: true, body: strings.Repeat("data: \xff\n\n", size/9)},
		"long strings":                      {protocol: providers.Gemini, body: `{"candidates":[{"finishReason":"STOP","content":{"parts":[` + fill(`{"text":"`+strings.Repeat("x", 4000)+`"},`) + `]}}]}`},
		"deep bodies in lines":              {protocol: providers.OllamaChat, stream: true, body: strings.Repeat(`{"a":`+strings.Repeat("[", 60)+strings.Repeat("]", 60)+"}\n", size/127)},
		"deep at the limit":                 chat("[" + fill(strings.Repeat("[", 60)+strings.Repeat("]", 60)+",") + "]"),
		"blocks":                            {protocol: providers.AnthropicMessages, stream: true, body: blocks.String()},
		"pieces of arguments":               {protocol: providers.AnthropicMessages, mode: providers.ModeTool, stream: true, body: arguments.String()},
		"pieces of Cohere":                  {protocol: providers.CohereChat, stream: true, body: fill(`data: {"type":"content-delta","index":0,"delta":{"message":{"content":{"text":"x"}}}}` + "\n\n")},
		"parts of Gemini":                   {protocol: providers.Gemini, stream: true, body: fill(`data: {"candidates":[{"content":{"parts":[{"text":"x"}]}}]}` + "\n\n")},
		"blocks of Converse":                {protocol: providers.BedrockConverse, body: `{"stopReason":"end_turn","output":{"message":{"content":[` + fill(`{"text":"x"},`) + `]}}}`},
		"items of Responses":                {protocol: providers.OpenAIResponses, body: `{"status":"completed","output":[` + fill(`{"type":"message","content":[{"type":"output_text","text":"x"}]},`) + `]}`},
		"lines":                             {protocol: providers.OllamaChat, stream: true, body: strings.Repeat("{}\n", size/3)},
	}
}
