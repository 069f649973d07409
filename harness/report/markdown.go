package report

import (
	"fmt"
	"strings"
	"time"

	"github.com/interlock-harness/interlock/harness/history"
	"github.com/interlock-harness/interlock/harness/invariant"
)

// maxSummary keeps summary.md below what the hosts of job summaries take.
const maxSummary = 60 << 10

// markdown writes the job summary: counts first, then what did not pass, then a
// table of all scenarios, as far as it fits.
func markdown(r *Run, events map[string][]history.Event) []byte {
	var b strings.Builder
	verdict := r.Verdict()
	fmt.Fprintf(&b, "## %s %s: %s\n\n", Sign(verdict), verdict, r.Counts().sentence(time.Duration(r.Took)))
	fmt.Fprintf(&b, "Target %s, level %s, seed %d. Exit code %d.\n\n", Untrusted(r.Target).Markdown(), r.Level, r.Seed, ExitCode(verdict))
	scenarios := r.Scenarios()
	left := 0
	for _, s := range scenarios {
		for _, p := range s.told() {
			text := fence(r.Violation(*p, events[p.History], Places{}, Style{}))
			if b.Len()+len(text) > maxSummary/2 {
				left++
				continue
			}
			b.WriteString(text)
		}
	}
	if left > 0 {
		fmt.Fprintf(&b, "%d more in the report.\n\n", left)
	}
	b.WriteString("| | scenario | group | invariants | faults fired | time |\n|---|---|---|---|---|---|\n")
	for i, s := range scenarios {
		row := fmt.Sprintf("| %s %s | %s | %s | %s | %d of %d | %s |\n", Sign(s.Verdict), s.Verdict, Untrusted(s.Slug).Markdown()+s.tried(), Untrusted(s.Group).Markdown(),
			join(s.Invariants), s.Fired, s.Armed, round(time.Duration(s.Took)))
		if b.Len()+len(row) > maxSummary {
			fmt.Fprintf(&b, "\n%d more in the report.\n", len(scenarios)-i)
			break
		}
		b.WriteString(row)
	}
	return []byte(b.String())
}

// fence puts a text into a code block that it cannot leave.
func fence(text string) string {
	longest, run := 2, 0
	for _, r := range text {
		if r == '`' {
			run++
			longest = max(longest, run)
		} else {
			run = 0
		}
	}
	mark := strings.Repeat("`", longest+1)
	return mark + "text\n" + text + mark + "\n\n"
}

func join(ids []invariant.ID) string {
	words := make([]string, len(ids))
	for i, id := range ids {
		words[i] = Untrusted(id).Terminal()
	}
	return strings.Join(words, " ")
}

func splitLines(text string) []string {
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}
