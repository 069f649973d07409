package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/interlock-harness/interlock/harness/history"
	"github.com/interlock-harness/interlock/harness/invariant"
)

// maxAnnotations is how many errors, and how many warnings, GitHub takes from one
// step (10 of each kind); the last one says how many more there are.
const maxAnnotations = 10

// Annotations writes what did not come out as it must as workflow commands of
// GitHub Actions, one line each: an error for a violation or a broken stage, a
// warning for what is inconclusive.
func (r *Run) Annotations(w io.Writer, events map[string][]history.Event) error {
	kinds := map[string][]string{}
	for _, p := range r.Told() {
		kind := "error"
		if p.reported() == invariant.Inconclusive {
			kind = "warning"
		}
		text := strings.TrimRight(r.Violation(p, events[p.History], Places{}, Style{}), "\n")
		kinds[kind] = append(kinds[kind], fmt.Sprintf("::%s file=%s,line=1,title=%s::%s", kind,
			property("scenarios/"+strings.ReplaceAll(Untrusted(p.Slug).CI(), "-", "_")+".go"), property(Untrusted(p.Slug).CI()), message(text)))
	}
	for _, kind := range []string{"error", "warning"} {
		lines := kinds[kind]
		if left := len(lines) - maxAnnotations + 1; left > 1 {
			lines = append(lines[:maxAnnotations-1:maxAnnotations-1], fmt.Sprintf("::%s title=interlock::and %d more, in the report", kind, left))
		}
		for _, line := range lines {
			if _, err := fmt.Fprintln(w, line); err != nil {
				return err
			}
		}
	}
	return nil
}

// message escapes the text of a workflow command.
func message(text string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(text)
}

// property escapes a value before the text.
func property(text string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C").Replace(text)
}
