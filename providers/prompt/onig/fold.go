package onig

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"unicode"
)

// errMultiFold: Oniguruma lets (?i:ss) match the single letter ß, and the
// other way round. No tokenizer needs it, so a pattern that could tell the
// difference is refused instead of being read in another way.
var errMultiFold = errors.New("a case-insensitive part may match one letter as several (ß as ss), which is not supported")

// several are the foldings of one letter into more than one (CaseFolding.txt,
// status F), by the letter.
var several = map[rune]string{
	'ß': "ss", 'ẞ': "ss", 'İ': "i̇", 'ŉ': "ʼn", 'ǰ': "ǰ", 'ΐ': "ΐ", 'ΰ': "ΰ", 'և': "եւ", 'ẖ': "ẖ", 'ẗ': "ẗ", 'ẘ': "ẘ", 'ẙ': "ẙ",
	'ẚ': "aʾ", 'ﬀ': "ff", 'ﬁ': "fi", 'ﬂ': "fl", 'ﬃ': "ffi", 'ﬄ': "ffl", 'ﬅ': "st", 'ﬆ': "st", 'ﬓ': "մն", 'ﬔ': "մե", 'ﬕ': "մի",
	'ﬖ': "վն", 'ﬗ': "մխ",
}

// foldClosure adds to spans every letter that differs from a member in case
// only.
func foldClosure(spans []span) []span {
	out := append([]span(nil), spans...)
	for _, orbit := range orbits() {
		in := false
		for _, r := range orbit {
			in = in || has(spans, r)
		}
		if in {
			for _, r := range orbit {
				out = append(out, span{r, r})
			}
		}
	}
	return merge(out)
}

// orbits are the sets of letters that are equal but for their case.
var orbits = sync.OnceValue(func() [][]rune {
	var all [][]rune
	for r := rune(0); r <= 0x1FFFF; r++ {
		orbit := []rune{r}
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			orbit = append(orbit, f)
		}
		if len(orbit) > 1 && r == slices.Min(orbit) {
			all = append(all, orbit)
		}
	}
	return all
})

// checkFold refuses a class that holds a letter with a folding of several
// letters, unless the class holds those letters too (then it makes no
// difference where the class repeats, which is the only use there is).
func checkFold(spans []span) error {
	for letter, folded := range several {
		if !has(spans, letter) {
			continue
		}
		for _, r := range folded {
			if !has(spans, r) && !unicode.Is(unicode.Mn, r) {
				return errMultiFold
			}
		}
	}
	return nil
}

// checkFoldText refuses a literal run in which several letters fold to one.
func checkFoldText(run string) error {
	run = strings.ReplaceAll(strings.ToLower(run), "ſ", "s")
	for letter, folded := range several {
		if strings.ContainsRune(run, letter) || strings.Contains(run, folded) {
			return errMultiFold
		}
	}
	return nil
}
