package bpe

import (
	"encoding/base64"
	"errors"
	"fmt"

	"github.com/interlock-harness/interlock/providers/prompt/onig"
)

// rankTable is a vocabulary as tiktoken has it: bytes by rank. Two neighbours
// merge whenever their bytes together are a token, lowest rank first, so the
// merges are not written down; build works them out.
type rankTable struct {
	tokens map[string]int32
	offset int32 // what is added to a rank to get an id
}

func (t *rankTable) add(encoded string, rank int32) error {
	token, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil || len(token) == 0 {
		return fmt.Errorf("the token of rank %d is not base64", rank)
	}
	if rank < 0 || rank > maxID-t.offset {
		return fmt.Errorf("rank %d is out of range", rank)
	}
	if len(token) > maxAdded {
		return fmt.Errorf("the token of rank %d has %d bytes, more than %d", rank, len(token), maxAdded)
	}
	if _, ok := t.tokens[string(token)]; ok {
		return fmt.Errorf("the token of rank %d appears twice", rank)
	}
	t.tokens[string(token)] = rank
	return nil
}

// build returns the tokenizer with the given pattern and added tokens. It has
// the form of a byte-level tokenizer.json, in which bytes are letters.
func (t *rankTable) build(pattern string, added []Added) (*Tokenizer, error) {
	for b := range 256 {
		if _, ok := t.tokens[string([]byte{byte(b)})]; !ok {
			return nil, fmt.Errorf("the byte 0x%02X has no token", b)
		}
	}
	re, err := onig.Compile(pattern)
	if err != nil {
		return nil, err
	}
	names := &vocabularyBuilder{}
	var merges []merge
	for token, rank := range t.tokens {
		for i := range len(token) {
			names.text = append(names.text, string(byteLetters[token[i]])...)
			if i == 0 {
				continue
			}
			left, okLeft := t.tokens[token[:i]]
			right, okRight := t.tokens[token[i:]]
			if okLeft && okRight {
				merges = append(merges, merge{left + t.offset, right + t.offset, rank, rank + t.offset})
			}
		}
		names.add(rank + t.offset)
	}
	m := &model{vocabulary: names.build(), pairs: newPairTable(merges), ignoreMerges: true}
	m.prepare()
	out := &Tokenizer{model: m, decode: func(tokens []string, _ *onig.Budget) ([]string, error) { return decodeLetters(tokens), nil }}
	out.pre = preTokenizer{stages: []stage{cutter{re.FindAll, "Isolated", false}.split}, asBytes: true}
	if out.added, err = fixedAdded(added, m.vocabulary); err != nil {
		return nil, err
	}
	out.tokenCount = countTokens(m.vocabulary, out.added)
	return out, nil
}

// fixedAdded is the added vocabulary of a file that gives each token its id.
func fixedAdded(tokens []Added, v *vocabulary) (*addedVocabulary, error) {
	a := &addedVocabulary{byID: map[int]Added{}, byContent: map[string]int{}, special: map[string]bool{}, raw: newTrie(), normalized: newTrie()}
	for _, token := range tokens {
		_, twice := a.byContent[token.Content]
		_, taken := v.token(token.ID)
		if _, ok := a.byID[token.ID]; ok || twice || taken || token.Content == "" || len(token.Content) > maxAdded || token.ID < 0 || token.ID > maxID {
			return nil, fmt.Errorf("the special token %q with id %d is empty, too long or not the only one", token.Content, token.ID)
		}
		a.byID[token.ID], a.byContent[token.Content], a.special[token.Content] = token, token.ID, true
		a.raw.add(token.Content, token.ID)
	}
	return a, nil
}

var errNoPattern = errors.New("a .tiktoken file does not say how it splits text: name it after its encoding (cl100k_base.tiktoken, o200k_base.tiktoken, ...)")
