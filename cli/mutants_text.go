package cli

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/interlock-harness/interlock/harness/invariant"
	"github.com/interlock-harness/interlock/harness/mutant"
	"github.com/interlock-harness/interlock/harness/report"
)

// texts prints, for each mutant of the matrix, what verify says of the first play
// that broke the named invariant, or another one where the named one held. dir
// holds a report folder for each mutant.
func (m *mutation) texts(dir string, rows []mutant.Row) error {
	for _, row := range rows {
		text, err := violationText(filepath.Join(dir, row.Name), invariant.ID(row.Invariant), report.Style{Color: m.s.colored(m.s.out)})
		if err != nil {
			return err
		}
		if text == "" {
			continue
		}
		if _, err := fmt.Fprintln(m.s.out, text); err != nil {
			return err
		}
	}
	return nil
}

// violationText is the text of the play in a report folder that broke the named
// invariant; "" where no play broke anything.
func violationText(dir string, named invariant.ID, style report.Style) (string, error) {
	stored, err := report.Load(dir)
	if err != nil {
		return "", err
	}
	plays := slices.DeleteFunc(slices.Clone(stored.Run.Plays), func(p report.Play) bool { return p.Verdict != invariant.Violation || p.Met() })
	if len(plays) == 0 {
		return "", nil
	}
	chosen := max(0, slices.IndexFunc(plays, func(p report.Play) bool { return p.Result.Violated(named) }))
	events, err := report.ReadHistory(dir)
	if err != nil {
		return "", err
	}
	return stored.Run.Violation(plays[chosen], events[plays[chosen].History], report.Places{HTML: filepath.Join(dir, report.HTMLFile)}, style), nil
}
