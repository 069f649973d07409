package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/interlock-harness/interlock/harness/history"
	"github.com/interlock-harness/interlock/harness/invariant"
	"github.com/interlock-harness/interlock/harness/report"
)

// stepper shows what a play recorded, one event at a time. The play itself is over:
// a person who thinks must not make deadlines pass.
type stepper struct {
	in  io.Reader
	out io.Writer
}

const stepHelp = "Enter: the next event. v: on to the next one that proves a violation. q: end.\n"

// show walks through the events of a play. It ends at q, at the end of the input or
// with the last event.
func (st *stepper) show(name string, events []history.Event, findings []invariant.Finding) error {
	labels := report.NewLabels(events)
	lines := report.Lines(events, labels)
	if len(lines) == 0 {
		_, err := fmt.Fprintf(st.out, "%s recorded nothing\n", printable(name))
		return err
	}
	proves := provingLines(events, lines, findings)
	if _, err := fmt.Fprintf(st.out, "%s, %s. %s", printable(name), plural(len(lines), "event"), stepHelp); err != nil {
		return err
	}
	answers := bufio.NewReader(st.in)
	skip := false
	for i, l := range lines {
		text := fmt.Sprintf("%*d/%d %6d ms  %-14s %s", len(fmt.Sprint(len(lines))), i+1, len(lines), (l.AtUS-lines[0].AtUS)/1000, l.Lane, l.What)
		if l.Outcome != "" {
			text += "  " + l.Outcome
		}
		text = clip(printable(text), 79)
		for _, f := range proves[l.N] {
			text += "\n      " + printable(fmt.Sprintf("%s %s: %s", f.Verdict, f.Invariant, labels.In(f.Sentence)))
		}
		if _, err := fmt.Fprint(st.out, text); err != nil {
			return err
		}
		if skip = skip && len(proves[l.N]) == 0; skip || i == len(lines)-1 {
			_, _ = fmt.Fprintln(st.out)
			continue
		}
		answer, err := answers.ReadString('\n')
		if err != nil {
			_, _ = fmt.Fprintln(st.out)
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		switch strings.TrimSpace(answer) {
		case "q":
			return nil
		case "v":
			skip = true
		}
	}
	return nil
}

// provingLines says which violations a line proves. The outcome of an operation stands
// at its beginning.
func provingLines(events []history.Event, lines []report.Line, findings []invariant.Finding) map[int64][]invariant.Finding {
	shown := map[int64]bool{}
	for _, l := range lines {
		shown[l.N] = true
	}
	begun := map[int64]int64{} // call -> event
	for _, e := range events {
		if e.Kind == history.Invoke && begun[e.Call] == 0 {
			begun[e.Call] = e.N
		}
	}
	proves := map[int64][]invariant.Finding{}
	for _, f := range findings {
		if f.Verdict != invariant.Violation || len(f.Events) == 0 {
			continue
		}
		n := f.Events[len(f.Events)-1]
		if i := slices.IndexFunc(events, func(e history.Event) bool { return e.N == n }); i >= 0 && !shown[n] {
			n = begun[events[i].Call]
		}
		proves[n] = append(proves[n], f)
	}
	return proves
}
