package bpe

import (
	"slices"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
	"golang.org/x/text/unicode/rangetable"
)

// The tokenizers library normalizes with the data of Unicode 9.0 and without a
// limit on the combining characters in a row. x/text knows a newer version and
// puts a joiner after 30 of them, so it only decides whether a text is normal
// already; what is not, is composed here from its tables, in which characters
// that are newer than 9.0 count as inert.

var unicode9 = sync.OnceValue(func() *unicode.RangeTable { return rangetable.Assigned("9.0.0") })

// normalForm returns text in form f (UAX #15).
func normalForm(f norm.Form, text string) string {
	if f.IsNormalString(text) {
		return text
	}
	runes := decompose(f, text)
	if f == norm.NFC || f == norm.NFKC {
		runes = compose(runes)
	}
	return string(runes)
}

// decompose returns text fully decomposed, marks in canonical order.
func decompose(f norm.Form, text string) []rune {
	canonical := f == norm.NFC || f == norm.NFD
	out := make([]rune, 0, len(text))
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		var full []byte
		if r >= 0xA0 && unicode.Is(unicode9(), r) {
			if canonical {
				full = norm.NFD.PropertiesString(text[i : i+n]).Decomposition()
			} else {
				full = norm.NFKD.PropertiesString(text[i : i+n]).Decomposition()
			}
		}
		switch {
		case full != nil:
			for len(full) > 0 {
				d, size := utf8.DecodeRune(full)
				out, full = append(out, d), full[size:]
			}
		case r >= 0xAC00 && r <= 0xD7A3:
			out = append(out, hangul(r)...)
		default:
			out = append(out, r)
		}
		i += n
	}
	for i := 0; i < len(out); {
		if class(out[i]) == 0 {
			i++
			continue
		}
		start := i
		for i < len(out) && class(out[i]) != 0 {
			i++
		}
		slices.SortStableFunc(out[start:i], func(a, b rune) int { return int(class(a)) - int(class(b)) })
	}
	return out
}

// class returns the canonical combining class of r.
func class(r rune) uint8 {
	if r < 0x300 || !unicode.Is(unicode9(), r) {
		return 0
	}
	var b [utf8.UTFMax]byte
	return norm.NFD.Properties(b[:utf8.EncodeRune(b[:], r)]).CCC()
}

// compose joins what composes, in place.
func compose(runes []rune) []rune {
	out := runes[:0]
	starter, last := -1, uint8(0) // index in out of the last starter; class of what came after it
	for _, r := range runes {
		c := class(r)
		if starter >= 0 && (starter == len(out)-1 || last != 0 && last < c) {
			if joined, ok := join(out[starter], r); ok {
				out[starter] = joined
				continue
			}
		}
		if c == 0 {
			starter = len(out)
		}
		last = c
		out = append(out, r)
	}
	return out
}

// join returns the character that a and b compose to.
func join(a, b rune) (rune, bool) {
	switch l, v := a-0x1100, b-0x1161; {
	case l >= 0 && l < 19 && v >= 0 && v < 21:
		return 0xAC00 + (l*21+v)*28, true
	case a >= 0xAC00 && a <= 0xD7A3 && (a-0xAC00)%28 == 0 && b > 0x11A7 && b < 0x11C3:
		return a + b - 0x11A7, true
	}
	r, ok := composites()[[2]rune{a, b}]
	return r, ok
}

// composites are the primary composites of Unicode 9.0, by what they are
// composed of.
var composites = sync.OnceValue(func() map[[2]rune]rune {
	table := map[[2]rune]rune{}
	rangetable.Visit(unicode9(), func(r rune) {
		if r < 0xC0 || r >= 0xAC00 && r <= 0xD7A3 {
			return
		}
		d := []rune(string(norm.NFD.PropertiesString(string(r)).Decomposition()))
		if len(d) < 2 || norm.NFC.String(string(r)) != string(r) { // excluded from composition
			return
		}
		first := []rune(norm.NFC.String(string(d[:len(d)-1])))
		if len(first) == 1 {
			table[[2]rune{first[0], d[len(d)-1]}] = r
		}
	})
	return table
})

// hangul returns the letters of a syllable (The Unicode Standard, 3.12).
func hangul(r rune) []rune {
	s := r - 0xAC00
	out := []rune{0x1100 + s/588, 0x1161 + s%588/28}
	if t := s % 28; t > 0 {
		out = append(out, 0x11A7+t)
	}
	return out
}
