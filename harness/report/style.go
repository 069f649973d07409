package report

import "github.com/interlock-harness/interlock/harness/invariant"

// Style says how a text may be dressed. The zero value is plain.
type Style struct {
	Color bool
}

var colors = map[invariant.Verdict]string{
	invariant.Pass: "\x1b[32m", invariant.Violation: "\x1b[1;31m", invariant.Inconclusive: "\x1b[33m", invariant.Infrastructure: "\x1b[35m",
}

func (s Style) verdict(v invariant.Verdict, text string) string {
	if !s.Color {
		return text
	}
	return colors[v] + text + "\x1b[0m"
}

func (s Style) strong(text string) string {
	if !s.Color {
		return text
	}
	return "\x1b[1m" + text + "\x1b[0m"
}
