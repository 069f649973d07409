package envelope

import (
	"strings"

	"github.com/interlock-harness/interlock/providers"
)

// Ends is the one place where a protocol says how its answers end.
type Ends struct {
	// Normal are the words for a normal end, letter by letter.
	Normal []string
	// Words classes further words of this protocol.
	Words map[string]providers.FinishClass
	// Marker says in words what ends a stream, beside a word for the end; empty
	// where the close of the stream is all there is.
	Marker string
}

// common are the words that mean the same wherever they turn up, in lower case.
// Compatible servers borrow from each other.
var common = map[string]providers.FinishClass{
	"error":                         providers.FinishBroken,
	"insufficient_system_resource":  providers.FinishBroken,
	"network_error":                 providers.FinishBroken,
	"length":                        providers.FinishLength,
	"max_tokens":                    providers.FinishLength,
	"max_output_tokens":             providers.FinishLength,
	"max_length":                    providers.FinishLength,
	"model_length":                  providers.FinishLength,
	"model_context_window_exceeded": providers.FinishLength,
	"content_filter":                providers.FinishFilter,
	"content_filtered":              providers.FinishFilter,
	"guardrail_intervened":          providers.FinishFilter,
	"safety":                        providers.FinishFilter,
	"refusal":                       providers.FinishRefusal,
}

// Class says what kind of end a word is.
func (e *Ends) Class(word string) providers.FinishClass {
	if word == "" {
		return providers.FinishNone
	}
	for _, n := range e.Normal {
		if n == word {
			return providers.FinishNormal
		}
	}
	if c, ok := e.Words[word]; ok {
		return c
	}
	if c, ok := common[strings.ToLower(word)]; ok {
		return c
	}
	return providers.FinishAbnormal
}
