package render

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/interlock-harness/interlock/providers/prompt/jinja"
)

// safety is R20. The first probe is the one that sends templates with a macro
// for schemas into a recursion without end.
func safety(e *examination) {
	if _, err := e.Route.Render(Conversation{Messages: []Message{user(mark)}, Generate: true}); err != nil {
		e.fail("a plain conversation is refused: %v", err)
		return
	}
	deep := `{"type": "string"}`
	for range 12 {
		deep = `{"type": "object", "properties": {"inner": ` + deep + `}}`
	}
	tool := func(parameters string) []Tool {
		return []Tool{{"function", Function{"qz_deep", "qz", json.RawMessage(parameters)}}}
	}
	for _, probe := range []struct {
		what string
		c    Conversation
	}{
		{"a parameter of two types", Conversation{Messages: []Message{user(mark)},
			Tools: tool(`{"type": "object", "properties": {"a": {"type": ["string", "null"]}}, "required": ["a"]}`)}},
		{"a schema of twelve levels", Conversation{Messages: []Message{user(mark)}, Tools: tool(deep)}},
		{"a content of 256 KiB", Conversation{Messages: []Message{user(strings.Repeat("qz {{ ", 256<<10/6))}}},
	} {
		_, err := e.Route.Render(probe.c)
		var refused *jinja.Error
		if errors.As(err, &refused) && (refused.Class == "RecursionError" || refused.Class == "LimitError") {
			e.fail("%s does not come to an end: %v", probe.what, err)
		}
	}
}
