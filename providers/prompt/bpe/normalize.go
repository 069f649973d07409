package bpe

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/interlock-harness/interlock/providers/prompt/onig"
)

// piece is a part of the text on its way to the model. zero is how many of its
// bytes come from the very first character of the text: a Metaspace with the
// scheme "first" marks only a piece that starts there.
//
// All pieces of one text share a budget, so that no cutting up makes an endless
// pattern or endless growth affordable.
type piece struct {
	text   string
	zero   int
	budget *onig.Budget
}

// with returns p with other text.
func (p piece) with(text string, zero int) piece { return piece{text, zero, p.budget} }

// cut returns the part of p from start to end.
func (p piece) cut(start, end int) piece {
	return p.with(p.text[start:end], min(max(p.zero-start, 0), end-start))
}

// normalizer rewrites a piece before it is split.
type normalizer func(piece) (piece, error)

// newNormalizer builds the normalizer that raw describes (normalizers/*).
func newNormalizer(raw json.RawMessage) (normalizer, error) {
	var c struct {
		Type        string
		Normalizers []json.RawMessage
		Pattern     *pattern
		Content     string
		Prepend     string
		StripLeft   bool `json:"strip_left"`
		StripRight  bool `json:"strip_right"`
	}
	if err := json.Unmarshal(raw, &c); err != nil {
		return nil, err
	}
	switch c.Type {
	case "Sequence":
		return normalizers(c.Normalizers)
	case "NFC":
		return form(norm.NFC), nil
	case "NFD":
		return form(norm.NFD), nil
	case "NFKC":
		return form(norm.NFKC), nil
	case "NFKD":
		return form(norm.NFKD), nil
	case "Prepend":
		return func(p piece) (piece, error) { return p.prepend(c.Prepend), nil }, nil
	case "Replace":
		if c.Pattern == nil {
			return nil, errors.New("Replace: pattern is missing")
		}
		find, err := c.Pattern.finder()
		return func(p piece) (piece, error) { return p.replace(find, c.Content) }, err
	case "Lowercase":
		return each(lowercase), nil
	case "Strip":
		return func(p piece) (piece, error) { return p.strip(c.StripLeft, c.StripRight), nil }, nil
	case "StripAccents":
		return each(func(r rune) string {
			if combining(r) {
				return ""
			}
			return string(r)
		}), nil
	case "Nmt":
		return each(nmt), nil
	case "ByteLevel":
		return lettered, nil
	}
	return nil, fmt.Errorf("the normalizer %q is not supported", c.Type)
}

func normalizers(parts []json.RawMessage) (normalizer, error) {
	var all []normalizer
	for _, raw := range parts {
		n, err := newNormalizer(raw)
		if err != nil {
			return nil, err
		}
		all = append(all, n)
	}
	return func(p piece) (piece, error) {
		for _, n := range all {
			var err error
			if p, err = n(p); err != nil {
				return p, err
			}
		}
		return p, nil
	}, nil
}

// form normalizes to f. The first character's share is what its own form has
// as many characters as.
func form(f norm.Form) normalizer {
	return func(p piece) (piece, error) {
		text := normalForm(f, p.text)
		if text == p.text {
			return p, nil
		}
		zero := 0
		for range []rune(normalForm(f, p.text[:p.zero])) {
			_, n := utf8.DecodeRuneInString(text[zero:])
			zero += n
		}
		return p.with(text, zero), nil
	}
}

func (p piece) prepend(text string) piece {
	if p.text == "" {
		return p
	}
	if p.zero > 0 {
		p.zero += len(text)
	}
	return p.with(text+p.text, p.zero)
}

// replace writes content for each match. New text belongs to the character
// that ends the match.
func (p piece) replace(find finder, content string) (piece, error) {
	var b strings.Builder
	last, zero := 0, 0
	var tooLong error
	err := find(p.text, p.budget, func(start, end int) {
		if tooLong = p.budget.Write(len(content)); tooLong != nil {
			return
		}
		b.WriteString(p.text[last:start])
		zero += min(max(p.zero-last, 0), start-last)
		b.WriteString(content)
		if end <= p.zero {
			zero += len(content)
		}
		last = end
	})
	switch {
	case err == nil && tooLong != nil:
		return p, tooLong
	case err != nil || last == 0 && b.Len() == 0:
		return p, err
	}
	b.WriteString(p.text[last:])
	return p.with(b.String(), zero+max(p.zero-last, 0)), nil
}

func (p piece) strip(left, right bool) piece {
	start, end := 0, len(p.text)
	if left {
		start = end - len(strings.TrimLeftFunc(p.text, whitespace))
	}
	if right {
		end = start + len(strings.TrimRightFunc(p.text[start:], whitespace))
	}
	return p.cut(start, end)
}

// each rewrites character by character.
func each(rewrite func(rune) string) normalizer {
	return func(p piece) (piece, error) {
		var b strings.Builder
		b.Grow(len(p.text))
		zero := 0
		for i, r := range p.text {
			b.WriteString(rewrite(r))
			if i < p.zero {
				zero = b.Len()
			}
		}
		return p.with(b.String(), zero), nil
	}
}

// nmt drops control characters and makes whitespace of others (normalizers/unicode.rs).
func nmt(r rune) string {
	switch {
	case r >= 1 && r <= 8, r == 0xB, r >= 0xE && r <= 0x1F, r == 0x7F, r == 0x8F, r == 0x9F:
		return ""
	case r == 9, r == 0xA, r == 0xC, r == 0xD, r == 0x1680, r >= 0x200B && r <= 0x200F, r == 0x2028, r == 0x2029, r == 0x2581, r == 0xFEFF, r == 0xFFFD:
		return " "
	}
	return string(r)
}

// whitespace is White_Space, which has not changed since Unicode 6.3.
func whitespace(r rune) bool { return unicode.IsSpace(r) }

// pattern is what a Split or a Replace looks for.
type pattern struct{ String, Regex *string }

// finder calls found for each match in text, from left to right.
type finder func(text string, budget *onig.Budget, found func(start, end int)) error

func (p *pattern) finder() (finder, error) {
	switch {
	case p.Regex != nil && p.String == nil:
		re, err := onig.Compile(*p.Regex)
		if err != nil {
			return nil, err
		}
		return re.FindAll, nil
	case p.String == nil || p.Regex != nil:
		return nil, errors.New(`a pattern is one of "String" and "Regex"`)
	case *p.String == "":
		return onig.MustCompile("").FindAll, nil
	}
	return literal(*p.String), nil
}

func literal(what string) finder {
	return func(text string, _ *onig.Budget, found func(start, end int)) error {
		for from := 0; ; {
			i := strings.Index(text[from:], what)
			if i < 0 {
				return nil
			}
			found(from+i, from+i+len(what))
			from += i + len(what)
		}
	}
}
