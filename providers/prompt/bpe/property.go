package bpe

import (
	"sync"
	"unicode"

	"golang.org/x/text/unicode/rangetable"

	"github.com/interlock-harness/interlock/providers/prompt/onig"
)

// The tokenizers library takes its character classes from four places of four
// Unicode versions; each function here names the one it follows. All start
// from onig's tables (Unicode 16.0).

func set(name string) func() *onig.Set {
	return sync.OnceValue(func() *onig.Set {
		s, err := onig.Property(name)
		if err != nil {
			panic(err)
		}
		return s
	})
}

var (
	numberSet, markSet, punctuationSet, wordSet = set("N"), set("M"), set("P"), set("[:word:]")
	unicode8                                    = sync.OnceValue(func() *unicode.RangeTable { return rangetable.Assigned("8.0.0") })
)

// numeric is char::is_numeric of Rust's standard library (Unicode 17.0).
func numeric(r rune) bool {
	return numberSet().Contains(r) || r >= 0x11DE0 && r <= 0x11DE9 || r >= 0x16FF4 && r <= 0x16FF6
}

// combining is is_combining_mark of the normalization library (Unicode 9.0).
func combining(r rune) bool {
	switch r {
	case 0x1CF2, 0x1CF3: // became letters
		return true
	case 0x111C9: // became a mark
		return false
	}
	return r >= 0x300 && markSet().Contains(r) && unicode.Is(unicode9(), r)
}

// punctuation is ASCII punctuation and the punctuation of Unicode 8.0.
func punctuation(r rune) bool {
	if r < 0x80 {
		return r > ' ' && r < 0x7F && !(r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z')
	}
	return r == 0x166D || r == 0x111C9 || punctuationSet().Contains(r) && unicode.Is(unicode8(), r)
}

// word is \w of Rust's regex library (UTS #18, Unicode 16.0).
func word(r rune) bool { return r == 0x200C || r == 0x200D || wordSet().Contains(r) }

// lowercase is char::to_lowercase of Rust's standard library (Unicode 17.0).
func lowercase(r rune) string {
	if r == 'İ' {
		return "i̇"
	}
	if l, ok := lowercase17[r]; ok {
		return string(l)
	}
	for _, run := range lowercaseRuns {
		if r >= run[0] && r <= run[1] {
			return string(r + run[2])
		}
	}
	return string(unicode.ToLower(r))
}

// Letters that got a lower case after Unicode 15.0.
var (
	lowercase17 = map[rune]rune{
		0x1C89: 0x1C8A, 0xA7CB: 0x264, 0xA7CC: 0xA7CD, 0xA7CE: 0xA7CF, 0xA7D2: 0xA7D3, 0xA7D4: 0xA7D5, 0xA7DA: 0xA7DB, 0xA7DC: 0x19B,
	}
	lowercaseRuns = [][3]rune{{0x10D50, 0x10D65, 0x20}, {0x16EA0, 0x16EB8, 0x1B}} // first, last, distance
)
