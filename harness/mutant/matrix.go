package mutant

import (
	"fmt"
	"slices"
	"strings"
)

// Verdict words of a play, as the judge gives them.
const (
	pass      = "pass"
	violation = "violation"
	// infrastructure is also the word for what was broken off.
	infrastructure = "infrastructure"
)

// Outcome of one cell.
type Outcome string

const (
	// Caught: the named invariant was violated in the named scenario.
	Caught Outcome = "caught"
	// ByOther: another scenario caught it, or another invariant was violated.
	ByOther Outcome = "caught by other"
	// Survived: the scenario passed with the mutant.
	Survived Outcome = "survived"
	// Undecided: the play proved nothing, or the clean service did not pass.
	Undecided Outcome = "undecided"
)

// Played is one scenario that was judged, with a mutant or (Mutant empty) on the
// clean service. A scenario of several plays gives one Played with the worst
// verdict and all that was violated.
type Played struct {
	Mutant   string   `json:"mutant,omitempty"`
	Scenario string   `json:"scenario"`
	Verdict  string   `json:"verdict"`
	Violated []string `json:"violated,omitempty"`
	Why      string   `json:"why,omitempty"` // where it proved nothing
}

// Cell is a mutant in a scenario.
type Cell struct {
	Played
	Outcome Outcome `json:"outcome"`
}

// Row is a mutant with all scenarios that it was run in.
type Row struct {
	Mutant
	// Outcome is that of the named scenario; a mutant that was not run there is
	// undecided.
	Outcome Outcome `json:"outcome"`
	Why     string  `json:"why,omitempty"`
	Cells   []Cell  `json:"cells,omitempty"`
}

// Matrix is mutant x scenario.
type Matrix struct {
	Format string   `json:"format"`
	Seed   int64    `json:"seed"`
	Clean  []Played `json:"clean"` // the same scenarios on the clean service
	Rows   []Row    `json:"rows"`
	// Full says that each mutant was meant to be played in every scenario of Clean.
	// Only then Alone is known: by scenario, the mutants that it alone kills.
	Full  bool                `json:"full,omitempty"`
	Alone map[string][]string `json:"alone,omitempty"`
}

// MatrixFormat names the shape of matrix.json.
const MatrixFormat = "interlock-matrix/1"

// NewMatrix judges what was played. chosen are the mutants that were asked for;
// played holds the plays of the clean service and of the mutants.
func NewMatrix(seed int64, chosen []Mutant, played []Played) Matrix {
	m := Matrix{Format: MatrixFormat, Seed: seed}
	clean := map[string]Played{}
	for _, p := range played {
		if p.Mutant == "" {
			clean[p.Scenario] = p
			m.Clean = append(m.Clean, p)
		}
	}
	for _, c := range chosen {
		row := Row{Mutant: c, Outcome: Undecided, Why: c.Scenario + " was not played"}
		for _, p := range played {
			if p.Mutant != c.Name {
				continue
			}
			cell := Cell{p, c.outcome(p, clean[p.Scenario])}
			row.Cells = append(row.Cells, cell)
			if p.Scenario == c.Scenario {
				row.Outcome, row.Why = cell.Outcome, c.why(cell, clean[p.Scenario])
			}
		}
		m.Rows = append(m.Rows, row)
	}
	return m
}

// outcome judges one play of a mutant beside the clean play of the scenario.
func (m Mutant) outcome(p, clean Played) Outcome {
	switch {
	case clean.Verdict != pass:
		return Undecided
	case p.Scenario == m.Scenario && p.Verdict == violation && slices.Contains(p.Violated, m.Invariant):
		return Caught
	case p.Verdict == violation:
		return ByOther
	case p.Verdict == pass:
		return Survived
	}
	return Undecided
}

func (m Mutant) why(c Cell, clean Played) string {
	switch c.Outcome {
	case Caught:
		return ""
	case ByOther:
		if len(c.Violated) == 0 {
			return "a step of the scenario failed, and no invariant was violated"
		}
		return "broke " + strings.Join(c.Violated, " ") + ", not " + m.Invariant
	case Survived:
		return "the scenario passed"
	}
	if clean.Verdict == "" {
		return "the clean service was not played"
	}
	if clean.Verdict != pass {
		return "the clean service came out " + clean.Verdict
	}
	return strings.TrimSpace(c.Verdict + " " + c.Why)
}

// Counts are mutants by the outcome of their own scenario. Violated by another
// invariant than the named one counts as survived.
type Counts struct {
	Caught, Survived, Undecided int
}

// Counts counts the rows.
func (m Matrix) Counts() Counts {
	var c Counts
	for _, r := range m.Rows {
		switch r.Outcome {
		case Caught:
			c.Caught++
		case Undecided:
			c.Undecided++
		default:
			c.Survived++
		}
	}
	return c
}

// ExitCode is 0 when every mutant was caught, 1 when one survived, 2 when one is
// undecided, or not played in every scenario of a full matrix, or there is none.
func (m Matrix) ExitCode() int {
	c := m.Counts()
	switch {
	case c.Survived > 0:
		return 1
	case c.Undecided > 0 || c.Caught == 0 || m.Full && len(m.cutShort()) > 0:
		return 2
	}
	return 0
}

// Whole makes m a matrix of each mutant in every scenario, and finds the mutants
// that only one scenario kills.
func (m Matrix) Whole() Matrix {
	m.Full, m.Alone = true, map[string][]string{}
	for _, r := range m.Rows {
		if by := m.killers(r); len(by) == 1 && m.complete(r) {
			m.Alone[by[0]] = append(m.Alone[by[0]], r.Name)
		}
	}
	return m
}

// killers are the scenarios that the clean service passed and the mutant did not.
func (m Matrix) killers(r Row) (by []string) {
	for _, c := range r.Cells {
		if c.Outcome == Caught || c.Outcome == ByOther {
			by = append(by, c.Scenario)
		}
	}
	return by
}

// complete says whether the row's mutant was played, to the end, in every scenario
// that the clean service passed: what was not played might have killed it too.
func (m Matrix) complete(r Row) bool {
	played := map[string]bool{}
	for _, c := range r.Cells {
		played[c.Scenario] = c.Verdict != "" && c.Verdict != infrastructure
	}
	for _, p := range m.Clean {
		if p.Verdict == pass && !played[p.Scenario] {
			return false
		}
	}
	return len(m.Clean) > 0
}

// cutShort are the mutants of which it is not known who kills them.
func (m Matrix) cutShort() (names []string) {
	for _, r := range m.Rows {
		if !m.complete(r) {
			names = append(names, r.Name)
		}
	}
	return names
}

// alone tells which scenarios kill a mutant that no other does, which do not, and
// of which mutants it is not known.
func (m Matrix) alone() string {
	var b strings.Builder
	var idle []string
	for _, p := range m.Clean {
		if names := m.Alone[p.Scenario]; len(names) > 0 {
			fmt.Fprintf(&b, "  %-36s %s\n", p.Scenario, strings.Join(names, ", "))
		} else {
			idle = append(idle, p.Scenario)
		}
	}
	head := fmt.Sprintf("killed by one scenario alone: %d of %d scenarios have such a mutant\n", len(m.Alone), len(m.Clean))
	if len(idle) > 0 {
		fmt.Fprintf(&b, "  none in %d: %s\n", len(idle), strings.Join(idle, ", "))
	}
	if unknown := m.cutShort(); len(unknown) > 0 {
		fmt.Fprintf(&b, "  not played in every scenario, so not counted: %s\n", strings.Join(unknown, ", "))
	}
	return head + b.String()
}

// Text tells the matrix in a few lines: the count, who survived, who is
// undecided, and the command that tries the first of them again.
func (m Matrix) Text() string {
	var b strings.Builder
	c := m.Counts()
	fmt.Fprintf(&b, "  %-10s %d of %d by the named scenario and invariant\n", "caught", c.Caught, len(m.Rows))
	again := ""
	for _, outcome := range []Outcome{Survived, ByOther, Undecided} {
		for _, r := range m.Rows {
			if r.Outcome != outcome {
				continue
			}
			word := "survived"
			if outcome == Undecided {
				word = "undecided"
			}
			fmt.Fprintf(&b, "  %-10s %s: %s\n", word, r.Name, r.Description)
			fmt.Fprintf(&b, "  %-10s expected %s / %s: %s\n", "", r.Scenario, r.Invariant, r.Why)
			if again == "" {
				again = fmt.Sprintf("interlock mutants %s --scenario %s", r.Name, r.Scenario)
			}
		}
	}
	passed := 0
	for _, p := range m.Clean {
		if p.Verdict == pass {
			passed++
		}
	}
	fmt.Fprintf(&b, "clean service: %d of %d scenarios pass in the same run\n", passed, len(m.Clean))
	if m.Full {
		b.WriteString(m.alone())
	}
	if again != "" {
		fmt.Fprintf(&b, "again  %s\n", again)
	}
	if code := m.ExitCode(); code != 0 {
		fmt.Fprintf(&b, "exit %d\n", code)
	}
	return b.String()
}
