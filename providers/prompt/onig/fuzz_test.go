package onig_test

import (
	"testing"

	"github.com/interlock-harness/interlock/providers/prompt/onig"
)

// FuzzFindAll: no pattern and no text makes the engine panic or work without
// bound, and matches come in order.
func FuzzFindAll(f *testing.F) {
	for _, pattern := range []string{`(?i:'s|'t)|[^\r\n\p{L}\p{N}]?\p{L}+|\s+(?!\S)|\s+`, `(?<=a|bc)d*?`, `(?>a+|b)++`, `[\w&&[^a]]{2,}`, `^\b$|\G`, `(a*)*b`, `\K\R`} {
		f.Add(pattern, "it's  the abc\r\nd 漢字")
	}
	f.Fuzz(func(t *testing.T, pattern, text string) {
		if len(pattern) > 1<<10 || len(text) > 1<<12 {
			return
		}
		re, err := onig.Compile(pattern)
		if err != nil {
			return
		}
		last := 0
		_ = re.FindAll(text, nil, func(start, end int) {
			if start < last && end < last || end > len(text) || start > end {
				t.Fatalf("%q on %q: match from %d to %d after %d", pattern, text, start, end, last)
			}
			last = end
		})
	})
}
