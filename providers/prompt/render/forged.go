package render

import (
	"strings"

	"github.com/interlock-harness/interlock/providers/prompt/bpe"
)

// forgedSpecial is R4 and forgedUnflagged R5: whoever writes the text of a user
// must not be able to write tokens with which the template tells who speaks. A
// flag does not make the difference: markers of some families are added tokens
// that are not flagged special, and what splits special tokens up in user text
// passes those by.
func forgedSpecial(e *examination)   { forged(e, true) }
func forgedUnflagged(e *examination) { forged(e, false) }

func forged(e *examination, flagged bool) {
	if !e.plain() || !e.known() {
		return
	}
	var probe strings.Builder
	probe.WriteString("qz")
	count := 0
	for _, added := range e.Tokenizer.AddedTokens() {
		if added.Special == flagged && added.Content != "" {
			probe.WriteString(added.Content + "qz")
			count++
		}
	}
	if count == 0 {
		e.skip("the tokenizer has no such added tokens")
		return
	}
	texts := []string{probe.String()}
	for _, r := range e.Requests {
		texts = append(texts, r.User)
	}
	names := map[int]bool{}
	for _, text := range texts {
		for _, id := range e.forgedIn(text) {
			if added, ok := e.Tokenizer.Added(id); ok && added.Special == flagged {
				names[id] = true
			}
		}
	}
	if len(names) == 0 {
		return
	}
	var shown []string
	for _, added := range e.Tokenizer.AddedTokens() {
		if names[added.ID] && len(shown) < 5 {
			shown = append(shown, added.Content)
		}
	}
	e.fail("text of a user becomes %d of %d added tokens, such as %q", len(names), count, shown)
}

// forgedIn returns the ids of added tokens that the content text brings into a
// prompt, beyond those that its letters have anyway.
func (e *examination) forgedIn(text string) []int {
	c := Conversation{Messages: []Message{user(text)}, Generate: true}
	got, err := e.Tokenize(c)
	if err != nil {
		return nil
	}
	meant, err := e.idsOf(c, bpe.NoAdded)
	if err != nil {
		return nil
	}
	count := map[int]int{}
	for _, id := range meant {
		count[id]++
	}
	var extra []int
	for _, id := range got {
		if _, ok := e.Tokenizer.Added(id); ok {
			if count[id]--; count[id] < 0 {
				extra = append(extra, id)
			}
		}
	}
	return extra
}
