package onig_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"unicode"

	"github.com/dlclark/regexp2"

	"github.com/interlock-harness/interlock/providers/prompt/onig"
)

// The patterns of tokenizers mean the same in regexp2's dialect, as long as a
// text holds no character that the two know from different Unicode versions and
// no letter that folds to ASCII.
var common = []string{
	`'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`,
	`(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`,
	`[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|` +
		`[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+`,
	"[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\r\n]*|\\s*[\r\n]+|\\s+(?!\\S)|\\s+",
	`\p{N}{1,3}`, `[一-龥぀-ゟ゠-ヿ]+`, `(?<=\p{L})\d+(?=\s|$)`,
}

func TestPatternsOfTokenizersMatchAsInAnotherEngine(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	pieces := []string{"the", "I'm", "DON'T", "we'LL", " ", "  ", "\n", "\r\n", "\t", "1234", "x1", "é", "漢字", "かな", "العربية", "Ω", "Ǆ", "!", "...", "/", "_", "\u0301", "\u00a0", "½"}
	text := func() string {
		s := ""
		for range random.IntN(14) {
			if random.IntN(4) > 0 {
				s += pieces[random.IntN(len(pieces))]
				continue
			}
			r := rune(random.IntN(0x3000))
			known := unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.P, unicode.S, unicode.Z) && r != 'ſ' && r != 'K'
			if known {
				s += string(r)
			}
		}
		return s
	}
	for _, pattern := range common {
		ours, theirs := onig.MustCompile(pattern), regexp2.MustCompile(pattern, regexp2.None)
		for range 3000 {
			s := text()
			var got, want []string
			if err := ours.FindAll(s, nil, func(start, end int) { got = append(got, s[start:end]) }); err != nil {
				t.Fatal(err)
			}
			m, err := theirs.FindStringMatch(s)
			for ; m != nil && err == nil; m, err = theirs.FindNextMatch(m) {
				want = append(want, m.String())
			}
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got, want) {
				t.Fatalf("%s on %q:\n got %q\nwant %q", pattern, s, got, want)
			}
		}
	}
}
