package service

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/interlock-harness/interlock/service/internal/interleave"
)

// mutants looks whether the pairs find what they should: each mutant of statement
// or schema, and each guard line of the store's statements, taken away alone.
func (e *exploration) mutants(ctx context.Context) error {
	control, err := interleave.Control(ctx, e.options)
	if err != nil {
		return fmt.Errorf("control: %w", err)
	}
	if !e.json {
		_, _ = fmt.Fprintf(e.stdout, "control  the clean statements without the schema's second guards: %d schedules, %d broke a promise\n\n", control.Schedules, control.Violating)
	}
	found, survived, beyond := 0, 0, 0
	for _, m := range interleave.Targets() {
		h, err := interleave.Hunt(ctx, e.options, m)
		if err != nil {
			return err
		}
		switch {
		case h.Survived():
			survived++
		case h.Found:
			found++
		default:
			beyond++
		}
		e.tellHunted(h)
	}
	code := exitOK
	switch {
	case survived > 0:
		code = exitViolation
	case control.Violating > 0 || control.Undecided > 0 || found == 0:
		code = exitInconclusive
	}
	if e.json {
		_ = json.NewEncoder(e.stdout).Encode(struct {
			Type     string `json:"type"`
			Control  int    `json:"control_violating"`
			Found    int    `json:"found"`
			Survived int    `json:"survived"`
			Beyond   int    `json:"beyond"`
			Exit     int    `json:"exit"`
		}{"mutants", control.Violating, found, survived, beyond, code})
		return ended(code)
	}
	_, _ = fmt.Fprintf(e.stdout, "\n%d found, %d survived, %d beyond the pairs\n", found, survived, beyond)
	if code == exitInconclusive {
		_, _ = fmt.Fprintln(e.stdout, "exit 2 (inconclusive)")
	}
	return ended(code)
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
	if mark != "✓" || h.Lifted || h.Violation == nil {
		_, _ = fmt.Fprintf(e.stdout, "  %-34s %s\n", "", h.Means)
	}
}
