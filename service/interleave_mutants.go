package service

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/interlock-harness/interlock/service/internal/interleave"
)

// mutants looks whether the pairs find what they should: each mutant of statement
// or schema, and each guard line of the store's statements, taken away alone or,
// where that is not found, with others that hold the same.
func (e *exploration) mutants(ctx context.Context) error {
	targets, err := interleave.Targets(e.only...)
	if err != nil {
		return usage("%v", err)
	}
	control, err := interleave.Control(ctx, e.options, targets)
	if err != nil {
		return fmt.Errorf("control: %w", err)
	}
	if !e.json {
		_, _ = fmt.Fprintf(e.stdout, "control  the clean statements without the schema's second guards: %d schedules, %d broke a promise\n\n", control.Schedules, control.Violating)
	}
	count := tally{Type: "mutants", Schedules: control.Schedules, Control: control.Violating, Undecided: control.Undecided}
	hunter := interleave.NewHunter(e.options)
	for _, m := range targets {
		h, err := hunter.Hunt(ctx, m)
		if err != nil {
			return err
		}
		count.add(h)
		e.tellHunted(h)
	}
	count.Exit = count.comesTo()
	if e.json {
		_ = json.NewEncoder(e.stdout).Encode(count)
	} else {
		_, _ = fmt.Fprintf(e.stdout, "\n%d found, %d survived, %d beyond the pairs\n", count.Found, count.Survived, count.Beyond)
	}
	return e.end(count.Exit)
}

// tally counts what became of the mutants, beside the control.
type tally struct {
	Type      string `json:"type"`
	Schedules int    `json:"control_schedules"`
	Control   int    `json:"control_violating"`
	Undecided int    `json:"control_undecided"`
	Found     int    `json:"found"`
	Survived  int    `json:"survived"`
	Beyond    int    `json:"beyond"`
	Exit      int    `json:"exit"`
}

func (t *tally) add(h interleave.Hunted) {
	switch {
	case h.Survived():
		t.Survived++
	case h.Found:
		t.Found++
	default:
		t.Beyond++
	}
}

// comesTo is the exit code. The count says something about the guards where the
// control was played and kept every promise, and something was found.
func (t *tally) comesTo() int {
	decided := t.Schedules > 0 && t.Control == 0 && t.Undecided == 0 && t.Found > 0
	return comesTo(t.Survived > 0, !decided)
}

func (e *exploration) tellHunted(h interleave.Hunted) {
	if e.json {
		_ = json.NewEncoder(e.stdout).Encode(struct {
			Type string `json:"type"`
			interleave.Hunted
		}{"mutant", h})
		return
	}
	mark, what := "✓", ""
	switch {
	case h.Found && h.Beyond != "":
		mark, what = "✗", "found, though marked as beyond the pairs: "+h.Beyond
	case h.Found:
		what = fmt.Sprintf("%-3s in %s", h.Violation.Invariant, h.Violation.Schedule)
	case h.Beyond != "":
		mark, what = "-", h.Beyond
	default:
		mark, what = "✗", fmt.Sprintf("survived %d schedules", h.Schedules)
	}
	_, _ = fmt.Fprintf(e.stdout, "%s %-34s %s\n", mark, h.Mutant, what)
	if mark != "✓" || h.Lifted || len(h.With) > 0 || h.Violation == nil {
		_, _ = fmt.Fprintf(e.stdout, "  %-34s %s\n", "", h.Means)
	}
}
