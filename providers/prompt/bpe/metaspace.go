package bpe

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// metaspace writes spaces as a visible mark, as SentencePiece does
// (pre_tokenizers/metaspace.rs).
type metaspace struct {
	mark    string // one character, usually U+2581
	prepend string // "always", "first" or "never": where a piece gets a mark that it lacks
	split   bool   // a word starts at each mark
}

func newMetaspace(raw json.RawMessage) (metaspace, error) {
	var c struct {
		Replacement    string
		PrependScheme  string `json:"prepend_scheme"`
		AddPrefixSpace *bool  `json:"add_prefix_space"`
		Split          *bool
	}
	if err := json.Unmarshal(raw, &c); err != nil {
		return metaspace{}, err
	}
	m := metaspace{c.Replacement, c.PrependScheme, c.Split == nil || *c.Split}
	if utf8.RuneCountInString(m.mark) != 1 {
		return m, errors.New("Metaspace: replacement is not one character")
	}
	if m.prepend == "" {
		m.prepend = "always"
	}
	if m.prepend != "always" && m.prepend != "first" && m.prepend != "never" {
		return m, fmt.Errorf("Metaspace: prepend_scheme %q is not known", m.prepend)
	}
	if c.AddPrefixSpace != nil && !*c.AddPrefixSpace && m.prepend != "never" {
		return m, errors.New("Metaspace: add_prefix_space does not match prepend_scheme")
	}
	return m, nil
}

func (m metaspace) stage(p piece, emit func(piece) error) error {
	p, err := p.replace(literal(" "), m.mark)
	if err != nil {
		return err
	}
	if !strings.HasPrefix(p.text, m.mark) && (m.prepend == "always" || m.prepend == "first" && p.zero > 0) {
		p = p.prepend(m.mark)
	}
	if !m.split {
		return emit(p)
	}
	return cutter{literal(m.mark), "MergedWithNext", false}.split(p, emit)
}

// decode is the way back: marks are spaces, but for those of the first token.
func (m metaspace) decode(tokens []string) []string {
	for i, token := range tokens {
		with := " "
		if i == 0 && m.prepend != "never" {
			with = ""
		}
		tokens[i] = strings.ReplaceAll(token, m.mark, with)
	}
	return tokens
}
