package render

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/interlock-harness/interlock/providers"
)

// Conversation is what a server is asked to render.
type Conversation struct {
	Messages []Message
	Tools    []Tool
	Generate bool      // end with the header of the answer
	Now      time.Time // what a template sees as the present; zero for a fixed day
}

// Message is one turn.
type Message struct {
	Role      string     `json:"role"`
	Content   any        `json:"content"` // string, nil or []Part
	ToolCalls []ToolCall `json:"tool_calls,omitempty"`
	CallID    string     `json:"tool_call_id,omitempty"` // of a tool's answer
	Name      string     `json:"name,omitempty"`         // of the tool that answers
}

// Part is a part of content that has several.
type Part struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// ToolCall is a call that the model made earlier.
type ToolCall struct {
	ID       string       `json:"id"`
	Type     string       `json:"type"`
	Function CallFunction `json:"function"`
}

// CallFunction names the tool and its arguments: a string that holds JSON, or
// the object itself.
type CallFunction struct {
	Name      string `json:"name"`
	Arguments any    `json:"arguments"`
}

// Tool is a tool that the model may call.
type Tool struct {
	Type     string   `json:"type"`
	Function Function `json:"function"`
}

// Function describes a tool. Parameters is a JSON schema; the order of its keys
// is part of the prompt.
type Function struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
}

func system(text string) Message    { return Message{Role: "system", Content: text} }
func user(text string) Message      { return Message{Role: "user", Content: text} }
func assistant(text string) Message { return Message{Role: "assistant", Content: text} }

// FromRequest returns the conversation that a request of a contract starts.
func FromRequest(r providers.Request) Conversation {
	c := Conversation{Generate: true}
	if r.System != "" {
		c.Messages = append(c.Messages, system(r.System))
	}
	c.Messages = append(c.Messages, user(r.User))
	if r.Mode == providers.ModeTool {
		c.Tools = []Tool{{"function", Function{r.ToolName, r.ToolDescription, r.Schema}}}
	}
	return c
}

// encode is json.Marshal without escapes for HTML.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// mark is a word that no template and no tokenizer has a use for.
const mark = "qzUSERMARKzq"
