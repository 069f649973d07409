package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/interlock-harness/interlock/harness/invariant"
	"github.com/interlock-harness/interlock/harness/mutant"
)

type machineView struct {
	Name string
	To   []string
	Rows []stateRow
}

type stateRow struct {
	From  string
	Cells []stateCell
}

type stateCell struct{ Class, Text, Title string }

// coverageView shows each machine as a table from state to state.
func coverageView(edges []invariant.Edge) ([]machineView, string) {
	if len(edges) == 0 {
		return nil, ""
	}
	var machines []machineView
	for _, e := range edges {
		if len(machines) == 0 || machines[len(machines)-1].Name != e.Machine {
			machines = append(machines, machineView{Name: e.Machine})
		}
		m := &machines[len(machines)-1]
		if !slices.Contains(m.To, e.To) {
			m.To = append(m.To, e.To)
		}
		from := e.From
		if from == "" {
			from = "(new)"
		}
		if len(m.Rows) == 0 || m.Rows[len(m.Rows)-1].From != from {
			m.Rows = append(m.Rows, stateRow{From: from})
		}
		row := &m.Rows[len(m.Rows)-1]
		row.Cells = append(row.Cells, stateCellOf(e))
	}
	return machines, coverageText(edges)
}

// coverageText says how much of the two machines was exercised.
func coverageText(edges []invariant.Edge) string {
	legal, made, illegal, refused := 0, 0, 0, 0
	for _, e := range edges {
		switch {
		case e.From == e.To: // no move
		case e.Legal:
			legal++
			if e.Covered() {
				made++
			}
		default:
			illegal++
			if e.Covered() {
				refused++
			}
		}
	}
	return fmt.Sprintf("%d of %d legal moves made, %d of %d illegal moves tried and refused.", made, legal, refused, illegal)
}

func stateCellOf(e invariant.Edge) stateCell {
	switch {
	case e.Legal && e.Seen > 0:
		return stateCell{"made", fmt.Sprintf("✓ %d", e.Seen), "legal, made"}
	case e.Legal:
		return stateCell{"missing", "–", "legal, never made"}
	case e.Seen > 0:
		return stateCell{"illegal", fmt.Sprintf("✗ %d", e.Seen), "illegal, and made"}
	case e.Refused > 0:
		return stateCell{"refused", fmt.Sprintf("⊘ %d", e.Refused), "illegal, tried and refused"}
	}
	return stateCell{"", "", "illegal, not tried"}
}

type matrixView struct {
	Sentence string
	Rows     []mutantRow
	Idle     string
	Columns  []crossColumn
	Cross    []crossRow
	Caught   int // cells
}

// crossColumn is a scenario in which mutants were played.
type crossColumn struct {
	Name  string
	Total int  // mutants that it catches
	Idle  bool // it catches none that no other one does
}

// crossRow is a mutant in each of these scenarios.
type crossRow struct {
	Name  string
	Cells []stateCell
	Total int
}

type mutantRow struct {
	mutant.Row
	Sign, Class, Also string
}

func newMatrixView(m mutant.Matrix) *matrixView {
	c := m.Counts()
	v := &matrixView{Sentence: fmt.Sprintf("%d of %d mutants were caught by the scenario and the invariant that must catch them; %d survived, %d undecided. The clean service played the same scenarios in the same run.", c.Caught, len(m.Rows), c.Survived, c.Undecided)}
	for _, r := range m.Rows {
		row := mutantRow{Row: r, Sign: Sign(invariant.Violation), Class: "violation"}
		switch r.Outcome {
		case mutant.Caught:
			row.Sign, row.Class = Sign(invariant.Pass), "pass"
		case mutant.Undecided:
			row.Sign, row.Class = Sign(invariant.Inconclusive), "inconclusive"
		}
		var also []string
		for _, cell := range r.Cells {
			if cell.Scenario != r.Scenario && len(cell.Violated) > 0 {
				also = append(also, fmt.Sprintf("%s (%s)", cell.Scenario, strings.Join(cell.Violated, " ")))
			}
		}
		row.Also = strings.Join(also, ", ")
		v.Rows = append(v.Rows, row)
	}
	alone := m.Alone
	var idle []string
	for _, p := range m.Clean {
		if m.Full && len(alone[p.Scenario]) == 0 && !slices.Contains(idle, p.Scenario) {
			idle = append(idle, p.Scenario)
		}
	}
	slices.Sort(idle)
	v.Idle = strings.Join(idle, ", ")
	v.cross(m, idle)
	return v
}

// cross lays mutants across scenarios.
func (v *matrixView) cross(m mutant.Matrix, idle []string) {
	at := map[string]int{}
	for _, r := range m.Rows {
		for _, c := range r.Cells {
			if _, known := at[c.Scenario]; !known {
				at[c.Scenario] = len(v.Columns)
				v.Columns = append(v.Columns, crossColumn{Name: c.Scenario, Idle: slices.Contains(idle, c.Scenario)})
			}
		}
	}
	for _, r := range m.Rows {
		row := crossRow{Name: r.Name, Cells: make([]stateCell, len(v.Columns))}
		for _, c := range r.Cells {
			k := at[c.Scenario]
			row.Cells[k] = crossCell(c)
			if c.Outcome == mutant.Caught || c.Outcome == mutant.ByOther {
				row.Total++
				v.Columns[k].Total++
				v.Caught++
			}
		}
		v.Cross = append(v.Cross, row)
	}
}

func crossCell(c mutant.Cell) stateCell {
	broke := strings.Join(c.Violated, " ")
	switch c.Outcome {
	case mutant.Caught:
		return stateCell{"made", "✓", c.Scenario + ": caught by " + broke}
	case mutant.ByOther:
		return stateCell{"missing", "◐", c.Scenario + ": another rule broke: " + firstOf(broke, "a step failed")}
	case mutant.Survived:
		return stateCell{"illegal", "✗", c.Scenario + ": survived"}
	}
	return stateCell{"refused", "?", c.Scenario + ": not decided"}
}

func sortedNames(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }
