package live

import (
	"context"

	"github.com/interlock-harness/interlock/providers/prompt/render"
)

// LlamaCpp asks a llama.cpp server. It is a render.Tokenizing.
type LlamaCpp struct {
	Client
	Context context.Context
}

// Render returns the prompt that the model would see. The server always asks for
// an answer, whatever c says.
func (l *LlamaCpp) Render(c render.Conversation) (string, error) {
	var answer struct{ Prompt string }
	err := l.ask(l.Context, "/apply-template", l.chat(c), &answer)
	return answer.Prompt, err
}

// Tokenize returns the ids of text. parseSpecial recognises special tokens in
// it, which is what the server does with a rendered prompt and what it must not
// do with the text of a user.
func (l *LlamaCpp) Tokenize(text string, addSpecial, parseSpecial bool) ([]int, error) {
	var answer struct{ Tokens []int }
	err := l.ask(l.Context, "/tokenize", map[string]any{"content": text, "add_special": addSpecial, "parse_special": parseSpecial}, &answer)
	return answer.Tokens, err
}

// IDs returns the ids of the rendered prompt.
func (l *LlamaCpp) IDs(c render.Conversation) ([]int, error) {
	text, err := l.Render(c)
	if err != nil {
		return nil, err
	}
	return l.Tokenize(text, false, true)
}

// Encode returns the ids of plain text.
func (l *LlamaCpp) Encode(text string) ([]int, error) { return l.Tokenize(text, false, true) }

// Window returns the most tokens of prompt and answer together.
func (l *LlamaCpp) Window() (int, error) {
	var answer struct {
		Settings struct {
			Context int `json:"n_ctx"`
		} `json:"default_generation_settings"`
	}
	err := l.ask(l.Context, "/props", nil, &answer)
	return answer.Settings.Context, err
}

// Template returns the chat template that the server uses.
func (l *LlamaCpp) Template() (string, error) {
	var answer struct {
		ChatTemplate string `json:"chat_template"`
	}
	err := l.ask(l.Context, "/props", nil, &answer)
	return answer.ChatTemplate, err
}
