package live

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"

	"github.com/interlock-harness/interlock/providers/prompt/render"
)

// Counter says how many tokens a conversation has for a provider that shows no
// more than that.
type Counter interface {
	Count(ctx context.Context, c render.Conversation) (int, error)
}

// Anthropic counts with /v1/messages/count_tokens, which is an estimate.
type Anthropic struct{ Client }

// Count returns input_tokens.
func (a *Anthropic) Count(ctx context.Context, c render.Conversation) (int, error) {
	system, turns, err := split(c)
	if err != nil {
		return 0, err
	}
	type tool struct {
		Name        string          `json:"name"`
		Description string          `json:"description,omitempty"`
		Schema      json.RawMessage `json:"input_schema"`
	}
	type message struct {
		Role    string `json:"role"`
		Content string `json:"content"`
	}
	body := struct {
		Model    string    `json:"model"`
		System   string    `json:"system,omitempty"`
		Messages []message `json:"messages"`
		Tools    []tool    `json:"tools,omitempty"`
	}{Model: a.Model, System: system}
	for _, t := range turns {
		body.Messages = append(body.Messages, message{t.role, t.text})
	}
	for _, t := range c.Tools {
		body.Tools = append(body.Tools, tool{t.Function.Name, t.Function.Description, t.Function.Parameters})
	}
	var answer struct {
		Tokens *int `json:"input_tokens"`
	}
	if err := a.ask(ctx, "/v1/messages/count_tokens", body, &answer); err != nil {
		return 0, err
	}
	if answer.Tokens == nil {
		return 0, fmt.Errorf("the answer has no input_tokens")
	}
	return *answer.Tokens, nil
}

// Gemini counts with models/MODEL:countTokens. System prompt and tools count
// only inside a generateContentRequest, so that is what is sent.
type Gemini struct{ Client }

// Count returns totalTokens.
func (g *Gemini) Count(ctx context.Context, c render.Conversation) (int, error) {
	system, turns, err := split(c)
	if err != nil {
		return 0, err
	}
	type part struct {
		Text string `json:"text"`
	}
	type content struct {
		Role  string `json:"role,omitempty"`
		Parts []part `json:"parts"`
	}
	type declaration struct {
		Name        string          `json:"name"`
		Description string          `json:"description,omitempty"`
		Parameters  json.RawMessage `json:"parametersJsonSchema"`
	}
	type tool struct {
		Functions []declaration `json:"functionDeclarations"`
	}
	var request struct {
		Model    string    `json:"model"`
		System   *content  `json:"systemInstruction,omitempty"`
		Contents []content `json:"contents"`
		Tools    []tool    `json:"tools,omitempty"`
	}
	request.Model = "models/" + g.Model
	if system != "" {
		request.System = &content{Parts: []part{{system}}}
	}
	for _, t := range turns {
		role := t.role
		if role == "assistant" {
			role = "model"
		}
		request.Contents = append(request.Contents, content{role, []part{{t.text}}})
	}
	for _, t := range c.Tools {
		request.Tools = append(request.Tools, tool{[]declaration{{t.Function.Name, t.Function.Description, t.Function.Parameters}}})
	}
	var answer struct {
		Tokens *int `json:"totalTokens"`
	}
	path := "/v1beta/models/" + url.PathEscape(g.Model) + ":countTokens"
	if err := g.ask(ctx, path, map[string]any{"generateContentRequest": request}, &answer); err != nil {
		return 0, err
	}
	if answer.Tokens == nil {
		return 0, fmt.Errorf("the answer has no totalTokens")
	}
	return *answer.Tokens, nil
}

type turn struct{ role, text string }

// split parts the system prompt from the turns. Both protocols carry it apart.
func split(c render.Conversation) (system string, turns []turn, err error) {
	for i, m := range c.Messages {
		text, ok := m.Content.(string)
		if !ok || len(m.ToolCalls) > 0 || m.Role == "tool" {
			return "", nil, fmt.Errorf("message %d is not plain text, which is all that is counted here", i)
		}
		if m.Role == "system" {
			if i > 0 {
				return "", nil, fmt.Errorf("message %d is a system prompt in mid-conversation, which the protocol does not carry", i)
			}
			system = text
			continue
		}
		turns = append(turns, turn{m.Role, text})
	}
	return system, turns, nil
}

// Usage counts the conversation of every request of s, for check R18.
func Usage(ctx context.Context, counter Counter, s *render.Subject) (map[int]int, error) {
	usage := map[int]int{}
	for i, r := range s.Requests {
		n, err := counter.Count(ctx, render.FromRequest(r))
		if err != nil {
			return nil, fmt.Errorf("request %d: %w", i, err)
		}
		usage[i] = n
	}
	return usage, nil
}
