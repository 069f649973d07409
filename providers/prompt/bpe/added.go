package bpe

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Added is a token beside the model's own: found in the text before the model
// sees it (tokenizer/added_vocabulary.rs).
type Added struct {
	ID         int    `json:"id"`
	Content    string `json:"content"`
	SingleWord bool   `json:"single_word"` // not found inside a word
	LStrip     bool   `json:"lstrip"`      // takes the whitespace before it along
	RStrip     bool   `json:"rstrip"`      // takes the whitespace behind it along
	Normalized bool   `json:"normalized"`  // looked for in the normalized text, itself normalized
	Special    bool   `json:"special"`     // left out when decoding without special tokens
}

// maxAdded bounds the bytes of an added token, so that a hostile file cannot
// make the search for it quadratic.
const maxAdded = 1024

// addedVocabulary finds added tokens.
type addedVocabulary struct {
	byID       map[int]Added
	byContent  map[string]int
	special    map[string]bool // by content
	raw        *trie           // looked for in the text as it is
	normalized *trie           // looked for in the normalized text
}

// newAdded gives each token its id, which is that of the model where it has the
// token and the next free one otherwise, whatever the file says, and builds the
// two tries, special tokens first.
func newAdded(raw json.RawMessage, v *vocabulary, normalize normalizer) (*addedVocabulary, error) {
	a := &addedVocabulary{byID: map[int]Added{}, byContent: map[string]int{}, special: map[string]bool{}, raw: newTrie(), normalized: newTrie()}
	var tokens []Added
	if raw != nil {
		if err := json.Unmarshal(raw, &tokens); err != nil {
			return nil, fmt.Errorf("added_tokens: %w", err)
		}
	}
	next := v.size
	seen := map[Added]bool{}
	var specials, plain []Added
	for _, token := range tokens {
		if len(token.Content) > maxAdded {
			return nil, fmt.Errorf("added_tokens: a token has %d bytes, more than %d", len(token.Content), maxAdded)
		}
		if token.Special && token.Content != "" && !a.special[token.Content] {
			a.special[token.Content] = true
			specials = append(specials, token)
		}
	}
	for _, token := range tokens {
		token.ID = 0
		if token.Content == "" || seen[token] {
			continue
		}
		seen[token] = true
		id, ok := a.byContent[token.Content]
		if !ok {
			own, known := v.ids[token.Content]
			if id = int(own); !known {
				id = next
				next++
			}
		}
		if !a.special[token.Content] {
			plain = append(plain, token)
		}
		token.ID = id
		a.byContent[token.Content], a.byID[id] = id, token
	}
	for _, token := range append(specials, plain...) {
		id, content, in := a.byContent[token.Content], token.Content, a.raw
		if token.Normalized {
			in = a.normalized
			if normalize != nil {
				p, err := normalize(piece{text: content})
				if err != nil {
					return nil, err
				}
				content = p.text
			}
		}
		in.add(content, id)
	}
	return a, nil
}

// Recognition says which added tokens count as tokens where they stand in a
// text; the others are text.
type Recognition int

const (
	// AllAdded recognises every added token.
	AllAdded Recognition = iota
	// UnflaggedAdded recognises those that are not flagged special: the
	// library's encode_special_tokens, split_special_tokens of transformers.
	UnflaggedAdded
	// NoAdded recognises none: the text is only text.
	NoAdded
)

// split cuts p at the added tokens in trie. Each part is text, or a token with
// its id.
func (a *addedVocabulary) split(p piece, in *trie, which Recognition, text func(piece) error, token func(id int)) error {
	start := 0
	var failed error
	in.find(p.text, func(from, to, id int) bool {
		t := a.byID[id]
		if which == UnflaggedAdded && a.special[t.Content] {
			return true
		}
		if t.SingleWord && (endsInWord(p.text[:from]) || startsWithWord(p.text[to:])) {
			return true
		}
		if t.LStrip { // but not what the token before took
			from = max(len(strings.TrimRightFunc(p.text[:from], whitespace)), start)
		}
		if t.RStrip {
			to = len(p.text) - len(strings.TrimLeftFunc(p.text[to:], whitespace))
		}
		if start < from {
			if failed = text(p.cut(start, from)); failed != nil {
				return false
			}
		}
		if from < to { // else the token before took all of it along
			token(id)
		}
		start = to
		return true
	})
	if failed == nil && start < len(p.text) {
		failed = text(p.cut(start, len(p.text)))
	}
	return failed
}

func endsInWord(text string) bool {
	r, n := utf8.DecodeLastRuneInString(text)
	return n > 0 && word(r)
}

func startsWithWord(text string) bool {
	r, n := utf8.DecodeRuneInString(text)
	return n > 0 && word(r)
}
