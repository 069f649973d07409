package judge_test

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"

	"github.com/interlock-harness/interlock/providers"
)

// envelope are the names of fields that say nothing about what was answered or how
// it ended.
var envelope = map[string]string{}

func init() {
	for why, names := range map[string]string{
		"names the answer":                              "id object created created_at createdAt model modelVersion responseId response_id system_fingerprint item_id call_id toolUseId generation_id",
		"counts tokens (checks U01, U02)":               "usage usageMetadata tokens billed_units prompt_tokens completion_tokens total_tokens input_tokens output_tokens inputTokens outputTokens totalTokens promptTokenCount candidatesTokenCount totalTokenCount prompt_eval_count eval_count",
		"says how long it took":                         "total_duration load_duration eval_duration prompt_eval_duration metrics latencyMs",
		"repeats the request":                           "store truncation parallel_tool_calls temperature",
		"says where it stands, which is one place only": "role type index output_index content_index sequence_number logprobs annotations stop_sequence refusal",
	} {
		for _, name := range strings.Fields(names) {
			envelope[name] = why
		}
	}
}

// hollow tells values that carry nothing: empty ones, and what stands in the
// envelope.
func hollow(v any, name string) bool {
	if envelope[name] != "" {
		return true
	}
	switch v := v.(type) {
	case nil:
		return true
	case string:
		return v == ""
	case bool:
		return !v
	case map[string]any:
		for k, inner := range v {
			if !hollow(inner, k) {
				return false
			}
		}
		return true
	case []any:
		for _, inner := range v {
			if !hollow(inner, "") {
				return false
			}
		}
		return true
	}
	return false
}

// why a field can change without the answer being another one; "" where it cannot.
func why(v any, name string) string {
	switch {
	case envelope[name] != "":
		return envelope[name]
	case hollow(v, name):
		return "carries nothing"
	}
	return ""
}

// idle tells events that say nothing about the answer: openings, pings, usage, and
// in Responses second copies of what pieces have said, or pieces of what a copy says.
func idle(event []byte) bool {
	_, data := payload(event)
	if string(bytes.TrimSpace(data)) == "[DONE]" || len(bytes.TrimSpace(data)) == 0 {
		return true
	}
	var v any
	return json.Unmarshal(data, &v) == nil && hollow(v, "")
}

// copied is the type of an event of OpenAI Responses that opens something, or says
// once more what other events say; else "". The last event holds a copy of the
// output, and the end.
func copied(t providers.Transcript, event []byte) string {
	if t.Protocol != providers.OpenAIResponses || !t.Request.Stream {
		return ""
	}
	_, data := payload(event)
	var e struct {
		Type string `json:"type"`
	}
	if json.Unmarshal(data, &e) != nil {
		return ""
	}
	if e.Type == "response.created" || e.Type == "response.in_progress" || e.Type == "response.completed" ||
		strings.HasSuffix(e.Type, ".added") || strings.HasSuffix(e.Type, ".done") {
		return e.Type
	}
	return ""
}

// kindOf is the type of an event, for messages.
func kindOf(event []byte) []byte {
	m := regexp.MustCompile(`"(?:type|object)":"([^"]*)"`).FindSubmatch(event)
	if m == nil {
		return nil
	}
	return m[1]
}
