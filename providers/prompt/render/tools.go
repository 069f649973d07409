package render

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/interlock-harness/interlock/providers"
)

// probeTool has keys in no order, words that escapes would change, and a type
// that sends some templates into a loop.
var probeTool = Tool{"function", Function{
	Name: "qz_lookup", Description: "qz Füllt <b>&</b> 漢字 qz",
	Parameters: json.RawMessage(`{"type": "object", "properties": {"zeta_key": {"type": "string", "description": "last letter"}, "alpha_key": {"type": "string"}, ` +
		`"mid_key": {"type": "integer"}}, "required": ["zeta_key"]}`),
}}

// usesTools reports whether the contract calls tools, and skips a check on them
// where it does not.
func (e *examination) usesTools() bool {
	for _, r := range e.Requests {
		if r.Mode == providers.ModeTool {
			return e.plain()
		}
	}
	e.skip("the contract uses no tools")
	return false
}

// toolsRendered is R9. Most templates ignore tools without a word.
func toolsRendered(e *examination) {
	if !e.usesTools() {
		return
	}
	tools := []Tool{probeTool}
	for _, r := range e.Requests {
		if r.Mode == providers.ModeTool {
			tools = append(tools, FromRequest(r).Tools[0])
			break
		}
	}
	for _, tool := range tools {
		text, err := e.Route.Render(Conversation{Messages: []Message{user(mark)}, Tools: []Tool{tool}, Generate: true})
		if err != nil {
			e.fail("the tool %s is refused: %v", tool.Function.Name, err)
			continue
		}
		if !strings.Contains(text, tool.Function.Name) {
			e.fail("the tool %s is not in the prompt", tool.Function.Name)
			continue
		}
		e.keysInOrder(tool, text)
		for _, escape := range []string{`\u`, "&lt;", "&amp;", "&#"} {
			if description := tool.Function.Description; description != "" && !strings.Contains(text, description) && strings.Contains(text, escape) {
				e.fail("the description of the tool %s is written with escapes such as %s", tool.Function.Name, escape)
				break
			}
		}
	}
}

// keysInOrder looks for the properties of the tool in the order of its schema.
func (e *examination) keysInOrder(tool Tool, text string) {
	last := 0
	for _, key := range properties(tool.Function.Parameters) {
		at := strings.Index(text[last:], key)
		switch {
		case !strings.Contains(text, key):
			e.fail("the key %s of the tool %s is not in the prompt", key, tool.Function.Name)
			return
		case at < 0:
			e.fail("the keys of the tool %s are in another order: %s comes too early", tool.Function.Name, key)
			return
		}
		last += at
	}
}

// properties returns the names of the properties of an object schema, in order.
func properties(schema json.RawMessage) []string {
	var object struct{ Properties json.RawMessage }
	if json.Unmarshal(schema, &object) != nil || object.Properties == nil {
		return nil
	}
	d := json.NewDecoder(strings.NewReader(string(object.Properties)))
	if _, err := d.Token(); err != nil {
		return nil
	}
	var names []string
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return names
		}
		names = append(names, fmt.Sprint(key))
		var skipped json.RawMessage
		if d.Decode(&skipped) != nil {
			return names
		}
	}
	return names
}

// toolArguments is R10: protocols carry arguments as text that holds JSON, and
// templates expect either that or the object.
func toolArguments(e *examination) {
	if !e.usesTools() {
		return
	}
	for _, shape := range []struct {
		name      string
		arguments any
	}{
		{"text", `{"unit_key": "qzUNITzq"}`},
		{"object", json.RawMessage(`{"unit_key": "qzUNITzq"}`)},
	} {
		if e.Profile.ArgumentsAs != "" && e.Profile.ArgumentsAs != shape.name {
			continue
		}
		text, err := e.Route.Render(Conversation{Messages: []Message{
			user(mark),
			{Role: "assistant", Content: "", ToolCalls: []ToolCall{{"call00001", "function", CallFunction{"qz_lookup", shape.arguments}}}},
			{Role: "tool", Content: "42", CallID: "call00001", Name: "qz_lookup"},
			user("Go on."),
		}, Tools: []Tool{probeTool}, Generate: true})
		switch {
		case err != nil:
			e.fail("arguments as %s are refused: %v", shape.name, err)
		case !strings.Contains(text, "qzUNITzq"):
			e.fail("arguments as %s are dropped", shape.name)
		case strings.Contains(text, `\"unit_key\"`):
			e.fail("arguments as %s are encoded twice", shape.name)
		}
	}
}
