package bpe

import (
	"fmt"
	"unicode/utf8"
)

// model turns one word into tokens: byte-pair encoding as the tokenizers
// library does it (models/bpe).
type model struct {
	vocabulary   *vocabulary
	pairs        *pairTable
	unknown      string // the token for a character that has none; "" for none
	fuseUnknown  bool   // neighbouring unknown characters are one token
	byteFallback bool   // a character without a token becomes <0xNN> for each byte
	ignoreMerges bool   // a word that is a token stays whole
	prefix       string // before every character of a word but the first
	suffix       string // after the last character of a word
	cache        cache

	byteTokens [256]int32 // <0xNN>, or -1
	letters    [256]int32 // the letter that stands for a byte, or -1
	lettersOK  bool       // all of letters are there, and no prefix or suffix
	short      []int32    // the token of each low code point, or -1
}

// shortRunes is how many code points short covers.
const shortRunes = 0x3100

// prepare fills the tables that speed up the first step of a word.
func (m *model) prepare() {
	m.lettersOK = m.prefix == "" && m.suffix == ""
	for b := range 256 {
		m.byteTokens[b] = m.lookup(fmt.Sprintf("<0x%02X>", b))
		m.letters[b] = m.lookup(string(byteLetters[b]))
		m.lettersOK = m.lettersOK && m.letters[b] >= 0
	}
	m.short = make([]int32, shortRunes)
	for r := range rune(shortRunes) {
		m.short[r] = m.lookup(string(r))
	}
}

func (m *model) lookup(token string) int32 {
	if id, ok := m.vocabulary.ids[token]; ok {
		return id
	}
	return -1
}

// tokenize appends the tokens of word to ids. Where asBytes is set, word is
// plain text, and each of its bytes stands for its letter (see byteLetters).
func (m *model) tokenize(ids []int, word string, asBytes bool) ([]int, error) {
	if cached, ok := m.cache.get(word); ok {
		for _, id := range cached {
			ids = append(ids, int(id))
		}
		return ids, nil
	}
	tokens, err := m.merge(word, asBytes)
	if err != nil {
		return ids, err
	}
	m.cache.put(word, tokens)
	for _, id := range tokens {
		ids = append(ids, int(id))
	}
	return ids, nil
}

func (m *model) merge(word string, asBytes bool) ([]int32, error) {
	if m.ignoreMerges {
		whole := word
		if asBytes {
			whole = toLetters(word)
		}
		if id, ok := m.vocabulary.ids[whole]; ok {
			return []int32{id}, nil
		}
	}
	var ids []int32
	if asBytes && m.lettersOK {
		ids = make([]int32, len(word))
		for i := range len(word) {
			ids[i] = m.letters[word[i]]
		}
	} else {
		if asBytes {
			word = toLetters(word)
		}
		var err error
		if ids, err = m.symbols(word); err != nil {
			return nil, err
		}
	}
	switch {
	case len(ids) < 2:
		return ids, nil
	case len(ids) <= shortWord:
		return m.pairs.mergeShort(ids), nil
	}
	return m.pairs.mergeLong(ids), nil
}

// symbols returns the token of each character of word. An unknown character
// is written when the next one with a token comes, which is also what lets
// neighbours fuse; byte tokens do not wait for it.
func (m *model) symbols(word string) ([]int32, error) {
	ids := make([]int32, 0, len(word))
	waiting := int32(-1)
	for i := 0; i < len(word); {
		r, n := utf8.DecodeRuneInString(word[i:])
		text, id := word[i:i+n], int32(-1)
		switch first, last := i == 0, i+n == len(word); {
		case !first && m.prefix != "" || last && m.suffix != "":
			if !first {
				text = m.prefix + text
			}
			if last {
				text += m.suffix
			}
			id = m.lookup(text)
		case r < shortRunes:
			id = m.short[r]
		default:
			id = m.lookup(text)
		}
		i += n
		if id >= 0 {
			if waiting >= 0 {
				ids, waiting = append(ids, waiting), -1
			}
			ids = append(ids, id)
			continue
		}
		if m.byteFallback && m.hasBytes(text) {
			for j := range len(text) {
				ids = append(ids, m.byteTokens[text[j]])
			}
			continue
		}
		if m.unknown == "" {
			continue
		}
		if waiting >= 0 && !m.fuseUnknown {
			ids = append(ids, waiting)
		}
		if waiting = m.lookup(m.unknown); waiting < 0 {
			return nil, fmt.Errorf("the unknown token %q is not in the vocabulary", m.unknown)
		}
	}
	if waiting >= 0 {
		ids = append(ids, waiting)
	}
	return ids, nil
}

func (m *model) hasBytes(text string) bool {
	for i := range len(text) {
		if m.byteTokens[text[i]] < 0 {
			return false
		}
	}
	return true
}
