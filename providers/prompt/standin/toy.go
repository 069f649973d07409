package standin

import (
	_ "embed"
	"encoding/json"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/prompt/bpe"
	"github.com/interlock-harness/interlock/providers/prompt/render"
)

// ToyTemplate is the chat template of the toy route.
//
//go:embed toy.jinja
var ToyTemplate string

// ToyTokens are the added tokens of the toy route's tokenizer.
const ToyTokens = `{"content":"<s>","special":true},{"content":"<|im_start|>","special":true},{"content":"<|im_end|>","special":true},{"content":"<call>"}`

// Toy returns a small route on which no check finds anything, with one request
// and what its provider counts for it.
func Toy() (*render.Subject, error) {
	tokenizer, err := bpe.Parse(ToyTokenizer(ToyTokens, ""), "toy")
	if err != nil {
		return nil, err
	}
	s, err := render.New(ToyProfile(tokenizer), ToyTemplate, tokenizer)
	if err != nil {
		return nil, err
	}
	s.Requests = []providers.Request{ToyRequest(100)}
	return s, nil
}

// ToyProfile is the profile of the toy route with the given tokenizer.
func ToyProfile(tokenizer *bpe.Tokenizer) render.Profile {
	return render.Profile{
		Name: "toy", Variables: map[string]string{"bos_token": "<s>"}, BOS: "<s>", ContentTokens: "none", AnswerHeader: "<|im_start|>assistant\n",
		ContextWindow: 4096, K: 3, Tokenizer: render.Tokenizer{SHA256: tokenizer.Digest(), Known: []render.Known{{Text: "ab", IDs: []int{97, 98}}}},
	}
}

// ToyRequest asks the toy route to call a tool, in at most so many tokens.
func ToyRequest(maxOutput int64) providers.Request {
	return providers.Request{
		System: "Sort the mail.", User: "Where is my parcel?", Mode: providers.ModeTool, ToolName: "sort_mail", ToolDescription: "files a mail",
		Schema:          json.RawMessage(`{"type": "object", "properties": {"queue": {"type": "string"}, "urgency": {"type": "string"}}}`),
		MaxOutputTokens: &maxOutput,
	}
}

// ToyTokenizer returns a byte-level tokenizer.json without merges, in which the
// id of a byte is the byte, with the added tokens and further members given as
// JSON.
func ToyTokenizer(added, more string) []byte {
	vocab := map[string]int{}
	next := 256
	for b := range 256 {
		letter := rune(b)
		if b < '!' || b > '~' && b < 0xA1 || b == 0xAD {
			letter = rune(next)
			next++
		}
		vocab[string(letter)] = b
	}
	raw, _ := json.Marshal(vocab) // of strings and numbers
	return []byte(`{"version":"1.0","added_tokens":[` + added + `],` + more +
		`"pre_tokenizer":{"type":"ByteLevel","add_prefix_space":false,"use_regex":false},"decoder":{"type":"ByteLevel"},` +
		`"model":{"type":"BPE","vocab":` + string(raw) + `,"merges":[]}}`)
}
