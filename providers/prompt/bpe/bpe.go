// Package bpe turns text into the token ids that a model sees, and back. It
// reads tokenizer.json files of the tokenizers library whose model is BPE, the
// .tiktoken files of OpenAI and the tekken files of Mistral.
//
// The rule it keeps: the ids are those of the tokenizers library, version
// 0.22.2, for every file that loads and every text; a file with a part that is
// not supported does not load. A certificate counts tokens with it, so one
// wrong id is a wrong certificate. What a file or a text can cost is bounded,
// so a hostile one is an error and neither a hang nor a crash.
//
// Truncation and padding, which a file may also ask for, are left out: servers
// set them for each call and never for a prompt.
//
// Sources: the format and the behaviour of the tokenizers library (its folder
// tokenizers/src, named where a rule comes from one file), the .tiktoken files
// and patterns of openai/tiktoken, and the tekken files of mistral-common.
package bpe

import (
	"fmt"
	"strings"

	"github.com/interlock-harness/interlock/providers/prompt/onig"
)

// Tokenizer is a loaded tokenizer. It does not change and is safe for use from
// many goroutines.
type Tokenizer struct {
	digest     string
	model      *model
	normalize  normalizer // nil for none
	pre        preTokenizer
	added      *addedVocabulary
	decode     decoder   // nil for none
	process    processor // nil for none
	tokenCount int
}

// Options of Encode. The zero value is how the goldens were made: added tokens
// in the text are recognised, and none is put around it.
type Options struct {
	Added            Recognition
	AddSpecialTokens bool // put the special tokens of the post-processor around the text
}

// Encode returns the ids of text. Bytes that are not UTF-8 count as U+FFFD. It
// returns an error where a pattern of the tokenizer takes too many steps, or
// where a character has no token and neither has the unknown one.
func (t *Tokenizer) Encode(text string, o Options) ([]int, error) {
	text = strings.ToValidUTF8(text, "\uFFFD")
	_, first := firstRune(text)
	ids := make([]int, 0, len(text)/3+1)
	token := func(id int) { ids = append(ids, id) }

	word := func(p piece) (err error) {
		ids, err = t.model.tokenize(ids, p.text, t.pre.asBytes)
		return err
	}
	words := func(p piece) error { return t.pre.run(p, word) }
	normal := func(p piece) (err error) {
		if t.normalize != nil {
			if p, err = t.normalize(p); err != nil || p.text == "" {
				return err
			}
		}
		if o.Added == NoAdded {
			return words(p)
		}
		return t.added.split(p, t.added.normalized, o.Added, words, token)
	}
	var err error
	switch whole := (piece{text, first, onig.NewBudget(len(text))}); {
	case text == "":
	case o.Added == NoAdded:
		err = normal(whole)
	default:
		err = t.added.split(whole, t.added.raw, o.Added, normal, token)
	}
	if err != nil {
		return nil, fmt.Errorf("encode: %w", err)
	}
	return t.finish(ids, o.AddSpecialTokens)
}

func (t *Tokenizer) finish(ids []int, addSpecial bool) ([]int, error) {
	if t.process == nil {
		return ids, nil
	}
	parts, err := t.process([][]int{ids}, addSpecial)
	if err != nil {
		return nil, fmt.Errorf("encode: %w", err)
	}
	out := make([]int, 0, len(ids)+len(parts)) // a copy: a part may belong to the processor
	for _, p := range parts {
		out = append(out, p...)
	}
	return out, nil
}

// Decode returns the text of ids. Ids that no token has are passed over, as are
// special tokens where skipSpecial is set.
func (t *Tokenizer) Decode(ids []int, skipSpecial bool) (string, error) {
	tokens, size := make([]string, 0, len(ids)), 0
	for _, id := range ids {
		token, ok := t.Token(id)
		if ok && !(skipSpecial && t.added.special[token]) {
			tokens, size = append(tokens, token), size+len(token)
		}
	}
	if t.decode == nil {
		return strings.Join(tokens, " "), nil
	}
	tokens, err := t.decode(tokens, onig.NewBudget(size))
	if err != nil {
		return "", fmt.Errorf("decode: %w", err)
	}
	return strings.Join(tokens, ""), nil
}

// Token returns the token of id as the vocabulary writes it.
func (t *Tokenizer) Token(id int) (string, bool) {
	if a, ok := t.added.byID[id]; ok {
		return a.Content, true
	}
	return t.model.vocabulary.token(id)
}

// ID returns the id of token as the vocabulary writes it.
func (t *Tokenizer) ID(token string) (int, bool) {
	if id, ok := t.added.byContent[token]; ok {
		return id, true
	}
	id, ok := t.model.vocabulary.ids[token]
	return int(id), ok
}

// Added returns the added token of id, special or not.
func (t *Tokenizer) Added(id int) (Added, bool) {
	a, ok := t.added.byID[id]
	return a, ok
}

// AddedTokens returns every added token, by ascending id.
func (t *Tokenizer) AddedTokens() []Added { return sortedAdded(t.added.byID) }

// Digest returns the SHA-256 of the file, in hexadecimal.
func (t *Tokenizer) Digest() string { return t.digest }

// Size returns how many ids have a token.
func (t *Tokenizer) Size() int { return t.tokenCount }
