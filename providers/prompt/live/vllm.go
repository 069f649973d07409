package live

import (
	"context"

	"github.com/interlock-harness/interlock/providers/prompt/render"
)

// VLLM asks a vLLM server. It is a render.Tokenizing, so every check can look at
// what the live model sees.
type VLLM struct {
	Client
	Context context.Context // of every question
}

// Tokens is what /tokenize answers.
type Tokens struct {
	Count       int   `json:"count"`
	MaxModelLen int   `json:"max_model_len"` // the context window
	Tokens      []int `json:"tokens"`
}

// Chat tokenizes a conversation. The server's default for special tokens is
// false here and true for a prompt: a rendered prompt that is tokenized by
// itself gets a second beginning token.
func (v *VLLM) Chat(c render.Conversation) (Tokens, error) {
	var answer Tokens
	body := struct {
		chat
		Generate bool `json:"add_generation_prompt"`
	}{v.chat(c), c.Generate}
	err := v.ask(v.Context, "/tokenize", body, &answer)
	return answer, err
}

// Prompt tokenizes text.
func (v *VLLM) Prompt(text string, addSpecial bool) (Tokens, error) {
	var answer Tokens
	err := v.ask(v.Context, "/tokenize", map[string]any{"model": v.Model, "prompt": text, "add_special_tokens": addSpecial}, &answer)
	return answer, err
}

// Detokenize returns the text of ids.
func (v *VLLM) Detokenize(ids []int) (string, error) {
	var answer struct{ Prompt string }
	err := v.ask(v.Context, "/detokenize", map[string]any{"model": v.Model, "tokens": ids}, &answer)
	return answer.Prompt, err
}

// Render returns the prompt that the model would see.
func (v *VLLM) Render(c render.Conversation) (string, error) {
	tokens, err := v.Chat(c)
	if err != nil {
		return "", err
	}
	return v.Detokenize(tokens.Tokens)
}

// IDs returns the ids that the model would see.
func (v *VLLM) IDs(c render.Conversation) ([]int, error) {
	tokens, err := v.Chat(c)
	return tokens.Tokens, err
}

// Window returns the most tokens of prompt and answer together.
func (v *VLLM) Window() (int, error) {
	tokens, err := v.Prompt("qz", false)
	return tokens.MaxModelLen, err
}

// Encode returns the ids of plain text.
func (v *VLLM) Encode(text string) ([]int, error) {
	tokens, err := v.Prompt(text, false)
	return tokens.Tokens, err
}
