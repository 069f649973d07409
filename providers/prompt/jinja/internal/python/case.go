package python

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/language"
)

// Upper returns s.upper(), with Unicode's full mappings (ß becomes SS).
func Upper(s string) string {
	if isASCII(s) {
		return strings.ToUpper(s)
	}
	return cases.Upper(language.Und).String(s)
}

// Lower returns s.lower(); a sigma at the end of a word becomes ς.
func Lower(s string) string {
	if isASCII(s) {
		return strings.ToLower(s)
	}
	return lowerFrom(s, 0)
}

// lowerFrom returns s[from:] in lower case; the text before from decides
// whether a sigma ends a word.
func lowerFrom(s string, from int) string {
	var b strings.Builder
	for i, r := range s[from:] {
		switch r {
		case 'Σ':
			b.WriteRune(sigma(s, from+i))
		case 'İ':
			b.WriteString("i̇")
		default:
			b.WriteRune(unicode.ToLower(r))
		}
	}
	return b.String()
}

// sigma returns the lower case of the capital sigma at s[i:]: ς when a cased
// letter stands before it and none behind it, case-ignorable characters aside.
func sigma(s string, i int) rune {
	before, after := s[:i], s[i+len("Σ"):]
	for before != "" {
		r, n := utf8.DecodeLastRuneInString(before)
		if !caseIgnorable(r) {
			if !cased(r) {
				return 'σ'
			}
			break
		}
		before = before[:len(before)-n]
	}
	if before == "" {
		return 'σ'
	}
	for _, r := range after {
		if !caseIgnorable(r) {
			if cased(r) {
				return 'σ'
			}
			break
		}
	}
	return 'ς'
}

func cased(r rune) bool { return isUpper(r) || isLower(r) || unicode.IsTitle(r) }

// caseIgnorable is Unicode's property: marks, modifiers, format characters and
// the punctuation that stands inside words.
func caseIgnorable(r rune) bool {
	switch r {
	case '\'', '.', ':', 0xb7, 0x387, 0x55f, 0x5f4, 0x2018, 0x2019, 0x2024, 0x2027, 0xfe13, 0xfe52, 0xfe55, 0xff07, 0xff0e, 0xff1a:
		return true
	}
	return unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf, unicode.Lm, unicode.Sk)
}

func isUpper(r rune) bool { return unicode.IsUpper(r) || unicode.Is(unicode.Other_Uppercase, r) }
func isLower(r rune) bool { return unicode.IsLower(r) || unicode.Is(unicode.Other_Lowercase, r) }

func titleRune(r rune) string {
	if r < utf8.RuneSelf {
		return string(unicode.ToUpper(r))
	}
	if unicode.IsTitle(unicode.ToTitle(r)) {
		return string(unicode.ToTitle(r))
	}
	return cases.Title(language.Und, cases.NoLower).String(string(r))
}

// Capitalize returns s.capitalize().
func Capitalize(s string) string {
	if s == "" {
		return ""
	}
	r, n := utf8.DecodeRuneInString(s)
	return titleRune(r) + lowerFrom(s, n)
}

// Title returns s.title(): a letter behind a character without case is a
// capital, every other letter is not.
func Title(s string) string {
	var b strings.Builder
	inWord := false
	for i, r := range s {
		switch {
		case !inWord:
			b.WriteString(titleRune(r))
		case r == 'Σ':
			b.WriteRune(sigma(s, i))
		case r == 'İ':
			b.WriteString("i̇")
		default:
			b.WriteRune(unicode.ToLower(r))
		}
		inWord = cased(r)
	}
	return b.String()
}

// Swapcase returns s.swapcase().
func Swapcase(s string) string {
	var b strings.Builder
	for i, r := range s {
		switch {
		case r == 'Σ':
			b.WriteRune(sigma(s, i))
		case isUpper(r):
			b.WriteString(Lower(string(r)))
		case isLower(r):
			b.WriteString(Upper(string(r)))
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// Casefold returns s.casefold().
func Casefold(s string) string {
	if isASCII(s) {
		return strings.ToLower(s)
	}
	return cases.Fold().String(s)
}

// IsLower returns s.islower(): letters with case, none of them a capital.
func IsLower(s string) bool {
	found := false
	for _, r := range s {
		if isUpper(r) || unicode.IsTitle(r) {
			return false
		}
		found = found || isLower(r)
	}
	return found
}

// IsUpper returns s.isupper().
func IsUpper(s string) bool {
	found := false
	for _, r := range s {
		if isLower(r) || unicode.IsTitle(r) {
			return false
		}
		found = found || isUpper(r)
	}
	return found
}

// IsTitle returns s.istitle().
func IsTitle(s string) bool {
	found, inWord := false, false
	for _, r := range s {
		switch {
		case isUpper(r) || unicode.IsTitle(r):
			if inWord {
				return false
			}
			inWord, found = true, true
		case isLower(r):
			if !inWord {
				return false
			}
			found = true
		default:
			inWord = false
		}
	}
	return found
}
