package live

import (
	"context"

	"github.com/interlock-harness/interlock/providers/prompt/render"
)

// TGI asks a text-generation-inference server. It renders and shows ids, but
// tokenizes no plain text.
type TGI struct {
	Client
	Context context.Context
}

// ChatTokens is what /chat_tokenize answers.
type ChatTokens struct {
	Text   string `json:"templated_text"`
	Tokens []struct {
		ID   int    `json:"id"`
		Text string `json:"text"`
	} `json:"tokenize_response"`
}

// Chat renders and tokenizes a conversation. The server always asks for an
// answer.
func (g *TGI) Chat(c render.Conversation) (ChatTokens, error) {
	var answer ChatTokens
	err := g.ask(g.Context, "/chat_tokenize", g.chat(c), &answer)
	return answer, err
}

// Render returns the prompt that the model would see.
func (g *TGI) Render(c render.Conversation) (string, error) {
	answer, err := g.Chat(c)
	return answer.Text, err
}

// IDs returns the ids that the model would see.
func (g *TGI) IDs(c render.Conversation) ([]int, error) {
	answer, err := g.Chat(c)
	ids := make([]int, len(answer.Tokens))
	for i, token := range answer.Tokens {
		ids[i] = token.ID
	}
	return ids, err
}
