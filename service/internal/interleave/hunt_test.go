package interleave_test

import (
	"testing"

	"github.com/interlock-harness/interlock/service/internal/interleave"
	"github.com/interlock-harness/interlock/service/internal/mutant"
)

func target(t *testing.T, name string) mutant.Mutant {
	t.Helper()
	targets, err := interleave.Targets(name)
	if err != nil || len(targets) != 1 {
		t.Fatalf("%d targets %s: %v", len(targets), name, err)
	}
	return targets[0]
}

func TestAGuardThatIsTakenAwayIsFoundAndReplays(t *testing.T) {
	h, err := interleave.Hunt(t.Context(), options(t, "", 2), target(t, "guard:release-attempt:1"))
	if err != nil || !h.Found || h.Survived() {
		t.Fatalf("%+v: %v", h, err)
	}
	set, picks, err := interleave.ParseSchedule(h.Violation.Schedule)
	if err != nil {
		t.Fatal(err)
	}
	o := options(t, "")
	if o.Mutant, err = interleave.Choose(h.Mutant); err != nil {
		t.Fatal(err)
	}
	again, err := interleave.Replay(t.Context(), o, set, picks, 1)
	if err != nil || len(again[0].Violations) == 0 {
		t.Errorf("%s with %s breaks nothing: %v", h.Violation.Schedule, h.Mutant, err)
	}
}

func TestWhoSurvivesAndWhoIsOnlyMarked(t *testing.T) {
	for _, c := range []struct {
		found    bool
		beyond   string
		survived bool
	}{
		{true, "", false}, {false, "", true}, {false, "needs a clock", false}, {true, "needs a clock", true},
	} {
		if h := (interleave.Hunted{Found: c.found, Beyond: c.beyond}); h.Survived() != c.survived {
			t.Errorf("%+v survived: %t", h, h.Survived())
		}
	}
}

func TestAnUnknownGuardIsRefused(t *testing.T) {
	if _, err := interleave.Choose("guard:release-attempt:99"); err == nil {
		t.Error("a guard that there is not was chosen")
	}
	if _, err := interleave.Targets("guard:release-attempt:1", "guard:release-attempt:99"); err == nil {
		t.Error("a guard that there is not is a target")
	}
}

// A statement that does not parse proves nothing about a guard.
func TestABrokenMutantIsNoFind(t *testing.T) {
	m := mutant.Mutant{Name: "guard:broken", Replace: []mutant.Replacement{{Statement: "release-attempt", Old: "UPDATE attempts", New: "UPDATE nothing"}}}
	if h, err := interleave.Hunt(t.Context(), options(t, "", 2), m); err == nil {
		t.Errorf("it counts as %+v", h)
	}
}
