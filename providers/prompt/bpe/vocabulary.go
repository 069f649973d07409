package bpe

import (
	"fmt"
	"strings"
)

// maxID bounds token ids, so that a hostile file cannot make a table of any
// size it likes. The largest vocabularies have 262,144 tokens.
const maxID = 1<<20 - 1

// vocabulary is the tokens of a model and their ids.
type vocabulary struct {
	ids    map[string]int32
	tokens []string // by id
	known  []bool   // by id
	size   int      // distinct tokens
}

// vocabularyBuilder gathers tokens in one block of memory.
type vocabularyBuilder struct {
	text []byte
	ends []int
	ids  []int32
}

func (b *vocabularyBuilder) add(id int32) {
	b.ends, b.ids = append(b.ends, len(b.text)), append(b.ids, id)
}

// build returns the vocabulary. Of two tokens with one id, the later is what
// the id reads as.
func (b *vocabularyBuilder) build() *vocabulary {
	top := int32(-1)
	for _, id := range b.ids {
		top = max(top, id)
	}
	v := &vocabulary{ids: make(map[string]int32, len(b.ids)), tokens: make([]string, top+1), known: make([]bool, top+1)}
	text, start := string(b.text), 0
	for i, id := range b.ids {
		token := text[start:b.ends[i]]
		start = b.ends[i]
		v.ids[token] = id
		v.tokens[id], v.known[id] = token, true
	}
	v.size = len(v.ids)
	return v
}

// token returns the text of id.
func (v *vocabulary) token(id int) (string, bool) {
	if id < 0 || id >= len(v.tokens) || !v.known[id] {
		return "", false
	}
	return v.tokens[id], true
}

// readVocabulary reads {"token": id, ...}.
func readVocabulary(s *scanner) (*vocabulary, error) {
	b := &vocabularyBuilder{}
	err := s.list('{', '}', func() (err error) {
		if b.text, err = s.text(b.text); err != nil {
			return err
		}
		if err := s.expect(':'); err != nil {
			return err
		}
		id, err := s.id()
		b.add(id)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("vocab: %w", err)
	}
	return b.build(), nil
}

// readMerges reads the merges, each "left right" or ["left", "right"], and
// returns the table of pairs. The part of right that is prefix, which marks a
// subword that continues another, is left out of the merged token.
func readMerges(s *scanner, v *vocabulary, prefix string) (*pairTable, error) {
	var merges []merge
	var left, right, joined []byte
	rank := 0
	err := s.array(func() (err error) {
		if s.peek() == '[' {
			left, right, err = readPair(s, left[:0], right[:0])
		} else if left, err = s.text(left[:0]); err == nil {
			if strings.HasPrefix(string(left[:min(len(left), 8)]), "#version") {
				return nil
			}
			l, r, ok := strings.Cut(string(left), " ")
			if !ok || strings.Contains(r, " ") {
				return fmt.Errorf("merge %d is not two tokens with one space between them", rank)
			}
			left, right = append(left[:0], l...), append(right[:0], r...)
		}
		if err != nil {
			return err
		}
		if len(right) < len(prefix) {
			return fmt.Errorf("merge %d: %q is shorter than the prefix of continuing subwords", rank, right)
		}
		joined = append(append(joined[:0], left...), right[len(prefix):]...)
		a, okA := v.ids[string(left)]
		b, okB := v.ids[string(right)]
		c, okC := v.ids[string(joined)]
		if !okA || !okB || !okC {
			return fmt.Errorf("merge %d of %q and %q: a token is not in the vocabulary", rank, left, right)
		}
		merges = append(merges, merge{left: a, right: b, rank: int32(rank), id: c})
		rank++
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("merges: %w", err)
	}
	return newPairTable(merges), nil
}

func readPair(s *scanner, left, right []byte) ([]byte, []byte, error) {
	n := 0
	err := s.array(func() (err error) {
		switch n++; n {
		case 1:
			left, err = s.text(left)
		case 2:
			right, err = s.text(right)
		default:
			err = fmt.Errorf("a merge of more than two tokens")
		}
		return err
	})
	if err == nil && n != 2 {
		err = fmt.Errorf("a merge of %d tokens", n)
	}
	return left, right, err
}
