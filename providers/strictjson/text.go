package strictjson

import (
	"fmt"
	"unicode/utf16"
	"unicode/utf8"
)

// text reads a string at its opening quote. The content is returned when keep
// is set; it aliases the input where nothing was escaped.
func (s *scanner) text(keep bool) ([]byte, *Error) {
	d := s.data
	start := s.pos + 1
	p := start
	var own []byte // set once an escape was met
	copied := start
	for {
		for p < len(d) && plain[d[p]] {
			p++
		}
		if p == len(d) {
			return nil, s.fail(KindTruncated, p, "the text ends inside a string")
		}
		switch c := d[p]; {
		case c == '"':
			s.pos = p + 1
			if copied == start {
				return d[start:p], nil
			}
			if keep {
				own = append(own, d[copied:p]...)
			}
			return own, nil
		case c == '\\':
			r, n, err := s.escape(p)
			if err != nil {
				return nil, err
			}
			if keep {
				own = appendRune(append(own, d[copied:p]...), r)
			}
			p += n
			copied = p
		case c < 0x20:
			return nil, s.fail(KindSyntax, p, fmt.Sprintf("control character U+%04X inside a string", c))
		default: // the first byte of a longer character
			r, n := utf8.DecodeRune(d[p:])
			if r == utf8.RuneError && n == 1 {
				if !utf8.FullRune(d[p:]) {
					return nil, s.fail(KindTruncated, len(d), "the text ends inside a character")
				}
				return nil, s.fail(KindUTF8, p, "invalid UTF-8 inside a string")
			}
			p += n
		}
	}
}

// plain marks the bytes that stand for themselves inside a string.
var plain = func() (t [256]bool) {
	for c := 0x20; c < utf8.RuneSelf; c++ {
		t[c] = c != '"' && c != '\\'
	}
	return t
}()

// escape reads the escape sequence at p and returns its character and length.
func (s *scanner) escape(p int) (rune, int, *Error) {
	d := s.data
	if p+1 == len(d) {
		return 0, 0, s.fail(KindTruncated, len(d), "the text ends inside a string")
	}
	switch d[p+1] {
	case '"', '\\', '/':
		return rune(d[p+1]), 2, nil
	case 'b':
		return '\b', 2, nil
	case 'f':
		return '\f', 2, nil
	case 'n':
		return '\n', 2, nil
	case 'r':
		return '\r', 2, nil
	case 't':
		return '\t', 2, nil
	case 'u':
	default:
		return 0, 0, s.fail(KindSyntax, p, "unknown escape sequence inside a string")
	}
	r, err := s.hex(p + 2)
	switch {
	case err != nil:
		return 0, 0, err
	case r == 0 && !s.limits.AllowNUL:
		return 0, 0, s.fail(KindNUL, p, `\u0000 inside a string`)
	case !utf16.IsSurrogate(r):
		return r, 6, nil
	}
	if r < 0xdc00 && p+6 < len(d) && d[p+6] == '\\' && (p+7 == len(d) || d[p+7] == 'u') || p+6 == len(d) {
		if p+8 > len(d) {
			return 0, 0, s.fail(KindTruncated, len(d), "the text ends inside a string")
		}
		low, err := s.hex(p + 8)
		if err != nil {
			return 0, 0, err
		}
		if full := utf16.DecodeRune(r, low); full != utf8.RuneError {
			return full, 12, nil
		}
	}
	if s.limits.AllowSurrogates {
		return r, 6, nil
	}
	return 0, 0, s.fail(KindUTF8, p, "lone surrogate inside a string")
}

// appendRune writes a lone surrogate as the three bytes that UTF-8 would give
// it: they are invalid UTF-8, so a strict reader behind this one refuses them
// instead of meeting a silent replacement character.
func appendRune(to []byte, r rune) []byte {
	if utf16.IsSurrogate(r) {
		return append(to, 0xe0|byte(r>>12), 0x80|byte(r>>6)&0x3f, 0x80|byte(r)&0x3f)
	}
	return utf8.AppendRune(to, r)
}

func (s *scanner) hex(p int) (rune, *Error) {
	var r rune
	for i := p; i < p+4; i++ {
		if i >= len(s.data) {
			return 0, s.fail(KindTruncated, len(s.data), "the text ends inside a string")
		}
		c := s.data[i]
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, s.fail(KindSyntax, i, "four hexadecimal digits wanted")
		}
		r = r<<4 | rune(c)
	}
	return r, nil
}
