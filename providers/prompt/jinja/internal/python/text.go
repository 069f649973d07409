package python

import (
	"math"
	"strings"
	"unicode/utf8"
)

// runeCount returns len of a str.
func runeCount(s string) int { return utf8.RuneCountInString(s) }

func isASCII(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// IsSpace says whether str.isspace holds for a character.
func IsSpace(r rune) bool {
	switch {
	case r >= '\t' && r <= '\r', r >= 0x1c && r <= ' ', r == 0x85, r == 0xa0, r == 0x1680:
		return true
	case r >= 0x2000 && r <= 0x200a, r == 0x2028, r == 0x2029, r == 0x202f, r == 0x205f, r == 0x3000:
		return true
	}
	return false
}

// isLineEnd says whether str.splitlines cuts at a character.
func isLineEnd(r rune) bool {
	switch r {
	case '\n', '\r', '\v', '\f', 0x1c, 0x1d, 0x1e, 0x85, 0x2028, 0x2029:
		return true
	}
	return false
}

// SplitLines returns s.splitlines(keepends).
func SplitLines(s string, keepEnds bool) []string {
	var lines []string
	for s != "" {
		end := strings.IndexFunc(s, isLineEnd)
		if end < 0 {
			return append(lines, s)
		}
		_, n := utf8.DecodeRuneInString(s[end:])
		if strings.HasPrefix(s[end:], "\r\n") {
			n = 2
		}
		if keepEnds {
			lines = append(lines, s[:end+n])
		} else {
			lines = append(lines, s[:end])
		}
		s = s[end+n:]
	}
	return lines
}

// Fields returns s.split(): the words between runs of white space, at most
// limit cuts (all of them when negative), from the right when fromEnd.
func Fields(s string, limit int, fromEnd bool) []string {
	if limit < 0 {
		return strings.FieldsFunc(s, IsSpace)
	}
	var words []string
	if !fromEnd {
		for s = strings.TrimLeftFunc(s, IsSpace); s != ""; s = strings.TrimLeftFunc(s, IsSpace) {
			end := strings.IndexFunc(s, IsSpace)
			if end < 0 || len(words) == limit {
				return append(words, s)
			}
			words = append(words, s[:end])
			s = s[end:]
		}
		return words
	}
	for s = strings.TrimRightFunc(s, IsSpace); s != ""; s = strings.TrimRightFunc(s, IsSpace) {
		start := strings.LastIndexFunc(s, IsSpace)
		if start < 0 || len(words) == limit {
			words = append(words, s)
			break
		}
		_, n := utf8.DecodeRuneInString(s[start:])
		words = append(words, s[start+n:])
		s = s[:start]
	}
	for i, j := 0, len(words)-1; i < j; i, j = i+1, j-1 {
		words[i], words[j] = words[j], words[i]
	}
	return words
}

// splitAt returns s.split(sep, limit), from the right when fromEnd.
func splitAt(s, sep string, limit int, fromEnd bool) []string {
	if limit < 0 {
		return strings.Split(s, sep)
	}
	if !fromEnd {
		if limit == math.MaxInt {
			limit--
		}
		return strings.SplitN(s, sep, limit+1)
	}
	var parts []string
	for len(parts) < limit {
		at := strings.LastIndex(s, sep)
		if at < 0 {
			break
		}
		parts = append(parts, s[at+len(sep):])
		s = s[:at]
	}
	parts = append(parts, s)
	for i, j := 0, len(parts)-1; i < j; i, j = i+1, j-1 {
		parts[i], parts[j] = parts[j], parts[i]
	}
	return parts
}

// window returns the part of s between the optional indices start and end, the
// number of characters before it, and false when start lies beyond the end.
func window(s string, start, end Value) (part string, before int, ok bool) {
	if (!Given(start) || start == nil) && (!Given(end) || end == nil) {
		return s, 0, true
	}
	n := runeCount(s)
	bound := func(v Value, otherwise int) int {
		if !Given(v) || v == nil {
			return otherwise
		}
		i := sliceIndex(v)
		if i < 0 {
			i = max(i+n, 0)
		}
		return i
	}
	lo, hi := bound(start, 0), min(bound(end, n), n)
	if lo > hi {
		return "", lo, false
	}
	from := byteOffset(s, lo, n)
	return s[from : from+byteOffset(s[from:], hi-lo, n-lo)], lo, true
}

// Center returns s.center(width, fill).
func Center(t *Thread, s string, width int, fill string) string {
	n := width - runeCount(s)
	if n <= 0 {
		return s
	}
	left := n/2 + n&width&1
	b := NewBuffer(t)
	b.Pad(fill, left)
	b.WriteString(s)
	b.Pad(fill, n-left)
	return b.String()
}
