package cli

import (
	"fmt"
	"strings"
	"testing"

	"github.com/interlock-harness/interlock/providers/certificate"
)

// TestManyReasonsAreFolded: the first reason stands in the table, three follow it, and
// the others are counted, but for one that would take the line of its count.
func TestManyReasonsAreFolded(t *testing.T) {
	for _, c := range []struct {
		reasons int
		all     bool
		also    int
		folded  string
	}{
		{1, false, 0, ""},
		{4, false, 3, ""},
		{5, false, 4, ""},
		{6, false, 3, "Also:   2 more reasons, which --explain shows\n"},
		{18, false, 3, "Also:   14 more reasons, which --explain shows\n"},
		{18, true, 17, ""},
	} {
		var a certificate.Answer
		for i := range c.reasons {
			a.Reasons = append(a.Reasons, certificate.Reason{Sentence: fmt.Sprintf("reason %d", i), Remedy: "do this"})
		}
		var b strings.Builder
		writeRemedies(&b, a, c.all)
		text := b.String()
		if n := strings.Count(text, "Also:   reason "); n != c.also || strings.Count(text, "do this") != 1 {
			t.Errorf("%d reasons, all %v: %d lines more:\n%s", c.reasons, c.all, n, text)
		}
		if got := text[strings.LastIndex(strings.TrimSuffix(text, "\n"), "\n")+1:]; c.folded != "" && got != c.folded || c.folded == "" && strings.Contains(text, "more reasons") {
			t.Errorf("%d reasons, all %v: it ends with %q, want %q", c.reasons, c.all, got, c.folded)
		}
	}
}
