package mutant_test

import (
	"strings"
	"testing"

	"github.com/interlock-harness/interlock/harness/mutant"
)

var one = mutant.Mutant{Name: "last-write-wins", Scenario: "reverse-order", Invariant: "I5", Description: "no guard"}

func TestOnlyTheNamedInvariantInTheNamedScenarioCatches(t *testing.T) {
	clean := mutant.Played{Scenario: "reverse-order", Verdict: "pass"}
	for _, c := range []struct {
		name   string
		played []mutant.Played
		want   mutant.Outcome
		code   int
		why    string
	}{
		{"named invariant", []mutant.Played{clean, {Mutant: one.Name, Scenario: "reverse-order", Verdict: "violation", Violated: []string{"I6", "I5"}}}, mutant.Caught, 0, ""},
		{"another invariant", []mutant.Played{clean, {Mutant: one.Name, Scenario: "reverse-order", Verdict: "violation", Violated: []string{"I6"}}}, mutant.ByOther, 1, "broke I6, not I5"},
		{"a failed step alone", []mutant.Played{clean, {Mutant: one.Name, Scenario: "reverse-order", Verdict: "violation"}}, mutant.ByOther, 1, "no invariant"},
		{"passed", []mutant.Played{clean, {Mutant: one.Name, Scenario: "reverse-order", Verdict: "pass"}}, mutant.Survived, 1, "the scenario passed"},
		{"inconclusive", []mutant.Played{clean, {Mutant: one.Name, Scenario: "reverse-order", Verdict: "inconclusive", Why: "the fault did not fire"}}, mutant.Undecided, 2, "the fault did not fire"},
		{"infrastructure", []mutant.Played{clean, {Mutant: one.Name, Scenario: "reverse-order", Verdict: "infrastructure"}}, mutant.Undecided, 2, "infrastructure"},
		{"the clean service fails too", []mutant.Played{{Scenario: "reverse-order", Verdict: "violation"}, {Mutant: one.Name, Scenario: "reverse-order", Verdict: "violation", Violated: []string{"I5"}}}, mutant.Undecided, 2, "the clean service came out violation"},
		{"no clean service", []mutant.Played{{Mutant: one.Name, Scenario: "reverse-order", Verdict: "violation", Violated: []string{"I5"}}}, mutant.Undecided, 2, "was not played"},
		{"the right invariant in another scenario", []mutant.Played{clean, {Scenario: "x", Verdict: "pass"}, {Mutant: one.Name, Scenario: "x", Verdict: "violation", Violated: []string{"I5"}}}, mutant.Undecided, 2, "reverse-order was not played"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := mutant.NewMatrix(7, []mutant.Mutant{one}, c.played)
			if got := m.Rows[0]; got.Outcome != c.want || !strings.Contains(got.Why, c.why) || m.ExitCode() != c.code {
				t.Errorf("%s %q exit %d, want %s %q exit %d", got.Outcome, got.Why, m.ExitCode(), c.want, c.why, c.code)
			}
		})
	}
}

func TestTextCountsAndNamesTheSurvivor(t *testing.T) {
	two := mutant.Mutant{Name: "reaper-by-id", Scenario: "reaper-vs-complete", Invariant: "I4", Description: "the reaper moves what it saw"}
	m := mutant.NewMatrix(7, []mutant.Mutant{one, two}, []mutant.Played{
		{Scenario: "reverse-order", Verdict: "pass"}, {Scenario: "reaper-vs-complete", Verdict: "pass"},
		{Mutant: one.Name, Scenario: "reverse-order", Verdict: "violation", Violated: []string{"I5"}},
		{Mutant: two.Name, Scenario: "reaper-vs-complete", Verdict: "pass"},
	})
	want := `  caught     1 of 2 by the named scenario and invariant
  survived   reaper-by-id: the reaper moves what it saw
             expected reaper-vs-complete / I4: the scenario passed
clean service: 2 of 2 scenarios pass in the same run
again  interlock mutants reaper-by-id --scenario reaper-vs-complete
exit 1
`
	if got := m.Text(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestAloneCountsMutantsThatWerePlayedInEveryScenario(t *testing.T) {
	mutants := []mutant.Mutant{one, {Name: "twice", Scenario: "reverse-order"}, {Name: "cut-short", Scenario: "reverse-order"}, {Name: "missing", Scenario: "reverse-order"}}
	played := []mutant.Played{{Scenario: "reverse-order", Verdict: "pass"}, {Scenario: "double-click", Verdict: "pass"}, {Scenario: "flaky", Verdict: "inconclusive"}}
	for name, verdict := range map[string]string{one.Name: "inconclusive", "twice": "violation", "cut-short": "infrastructure"} {
		played = append(played, mutant.Played{Mutant: name, Scenario: "reverse-order", Verdict: "violation"},
			mutant.Played{Mutant: name, Scenario: "double-click", Verdict: verdict}, mutant.Played{Mutant: name, Scenario: "flaky", Verdict: "violation"})
	}
	played = append(played, mutant.Played{Mutant: "missing", Scenario: "reverse-order", Verdict: "violation"})
	m := mutant.NewMatrix(7, mutants, played)
	if m.Alone != nil || strings.Contains(m.Text(), "alone") {
		t.Errorf("a matrix that is not full says who kills alone: %v", m.Alone)
	}
	m = m.Whole()
	if alone := m.Alone["reverse-order"]; len(m.Alone) != 1 || len(alone) != 1 || alone[0] != one.Name {
		t.Errorf("alone %v", m.Alone)
	}
	want := `killed by one scenario alone: 1 of 3 scenarios have such a mutant
  reverse-order                        ` + one.Name + `
  none in 2: double-click, flaky
  not played in every scenario, so not counted: cut-short, missing
`
	if got := m.Text(); !strings.Contains(got, want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}

	cut := mutant.NewMatrix(7, []mutant.Mutant{one}, []mutant.Played{
		{Scenario: "reverse-order", Verdict: "pass"}, {Scenario: "double-click", Verdict: "pass"},
		{Mutant: one.Name, Scenario: "reverse-order", Verdict: "violation", Violated: []string{one.Invariant}},
	})
	if code, full := cut.ExitCode(), cut.Whole().ExitCode(); code != 0 || full != 2 {
		t.Errorf("exit %d, and %d of what was to be full and is not; want 0 and 2", code, full)
	}
}

func TestMatrixOfNothingIsUndecided(t *testing.T) {
	if code := mutant.NewMatrix(7, nil, nil).ExitCode(); code != 2 {
		t.Errorf("exit %d", code)
	}
}

func TestTableIsSoundInItself(t *testing.T) {
	seen := map[string]bool{}
	for _, m := range mutant.All() {
		if seen[m.Name] {
			t.Errorf("%s stands twice", m.Name)
		}
		seen[m.Name] = true
		if m.Scenario == "" || m.Description == "" || len(m.Invariant) < 2 || m.Invariant[0] != 'I' {
			t.Errorf("%+v lacks something", m)
		}
		if found, ok := mutant.Find(m.Name); !ok || found != m {
			t.Errorf("%s is not found", m.Name)
		}
	}
	if len(seen) < 40 {
		t.Errorf("%d mutants, want at least 40", len(seen))
	}
	if len(mutant.Names()) != len(seen) || len(mutant.Of("reverse-order")) < 2 {
		t.Errorf("names %v", mutant.Names())
	}
}
