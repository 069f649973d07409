package standin

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/interlock-harness/interlock/providers/prompt/render"
)

// chat is the body of a chat endpoint.
type chat struct {
	Messages []message
	Tools    []render.Tool
	Generate *bool `json:"add_generation_prompt"` // default true
}

// message is a message with its contents and arguments as they came, since the
// order of their keys is part of a prompt.
type message struct {
	Role      string
	Content   json.RawMessage
	CallID    string `json:"tool_call_id"`
	Name      string
	ToolCalls []struct {
		ID, Type string
		Function struct {
			Name      string
			Arguments json.RawMessage
		}
	} `json:"tool_calls"`
}

func (c chat) conversation() (render.Conversation, error) {
	out := render.Conversation{Tools: c.Tools, Generate: c.Generate == nil || *c.Generate}
	if len(c.Messages) == 0 {
		return out, fmt.Errorf("messages is missing")
	}
	for i, m := range c.Messages {
		content, err := contentOf(m.Content)
		if err != nil {
			return out, fmt.Errorf("message %d: %w", i, err)
		}
		turn := render.Message{Role: m.Role, Content: content, CallID: m.CallID, Name: m.Name}
		for _, call := range m.ToolCalls {
			arguments, err := value(call.Function.Arguments)
			if err != nil {
				return out, fmt.Errorf("message %d: %w", i, err)
			}
			turn.ToolCalls = append(turn.ToolCalls, render.ToolCall{ID: call.ID, Type: call.Type, Function: render.CallFunction{Name: call.Function.Name, Arguments: arguments}})
		}
		out.Messages = append(out.Messages, turn)
	}
	return out, nil
}

func contentOf(raw json.RawMessage) (any, error) {
	if !bytes.HasPrefix(raw, []byte("[")) {
		return value(raw)
	}
	var parts []render.Part
	err := json.Unmarshal(raw, &parts)
	return parts, err
}

// value returns a string as such and anything else as it came.
func value(raw json.RawMessage) (any, error) {
	switch {
	case len(raw) == 0 || string(raw) == "null":
		return nil, nil
	case raw[0] == '"':
		var text string
		err := json.Unmarshal(raw, &text)
		return text, err
	}
	return raw, nil
}

// literal is the fault ListLiteral: what a server does that hands str(content) on.
func literal(messages []render.Message) []render.Message {
	var out []render.Message
	for _, m := range messages {
		if parts, ok := m.Content.([]render.Part); ok {
			var items []string
			for _, p := range parts {
				items = append(items, fmt.Sprintf("{'type': '%s', 'text': '%s'}", p.Type, strings.ReplaceAll(p.Text, "'", `\'`)))
			}
			m.Content = "[" + strings.Join(items, ", ") + "]"
		}
		out = append(out, m)
	}
	return out
}

// lastOfUser is the fault DropsHistory.
func lastOfUser(messages []render.Message) []render.Message {
	var out []render.Message
	for i, m := range messages {
		later := slices.ContainsFunc(messages[i+1:], func(n render.Message) bool { return n.Role == "user" })
		if m.Role != "user" || !later {
			out = append(out, m)
		}
	}
	return out
}

// composed is the fault Composes.
func composed(messages []render.Message) []render.Message {
	out := slices.Clone(messages)
	for i, m := range out {
		if text, ok := m.Content.(string); ok {
			out[i].Content = strings.NewReplacer("e\u0301", "\u00e9", "\u212b", "\u00c5").Replace(text)
		}
	}
	return out
}
