package interleave_test

import (
	"slices"
	"strings"
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
	h, err := interleave.NewHunter(options(t, "", 2)).Hunt(t.Context(), target(t, "guard:release-attempt:1"))
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

// Each of the two holds alone, so neither is found before both are gone.
func TestAGuardThatAnotherOneRepeatsIsFoundWithIt(t *testing.T) {
	h, err := interleave.NewHunter(options(t, "", 2)).Hunt(t.Context(), target(t, "guard:complete-job:2"))
	if err != nil || !h.Found || h.Survived() || !slices.Equal(h.With, []string{"guard:complete-job:1"}) {
		t.Fatalf("%+v: %v", h, err)
	}
	set, picks, err := interleave.ParseSchedule(h.Violation.Schedule)
	if err != nil {
		t.Fatal(err)
	}
	suffix := strings.TrimPrefix(h.Mutant, "guard:complete-job:2+complete-job:1")
	for name, found := range map[string]bool{h.Mutant: true, "guard:complete-job:1" + suffix: false, "guard:complete-job:2" + suffix: false} {
		o := options(t, "")
		if o.Mutant, err = interleave.Choose(name); err != nil {
			t.Fatal(err)
		}
		again, err := interleave.Replay(t.Context(), o, set, picks, 1)
		if err != nil || len(again[0].Violations) > 0 != found {
			t.Errorf("%s with %s: %+v %v", h.Violation.Schedule, name, again, err)
		}
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
	for _, name := range []string{
		"guard:release-attempt:99", "guard:release-attempt:1+release-attempt:99", "guard:release-attempt:1+release-attempt:1", "guard:", "guard:+schema",
		"release-attempt:1", "guard:release-attempt:1+schema+schema",
	} {
		if _, err := interleave.Choose(name); err == nil {
			t.Errorf("%s, a guard that there is not, was chosen", name)
		}
	}
	if _, err := interleave.Targets("guard:release-attempt:1", "guard:release-attempt:99"); err == nil {
		t.Error("a guard that there is not is a target")
	}
}

// A statement that does not parse proves nothing about a guard.
func TestABrokenMutantIsNoFind(t *testing.T) {
	m := mutant.Mutant{Name: "guard:broken", Replace: []mutant.Replacement{{Statement: "release-attempt", Old: "UPDATE attempts", New: "UPDATE nothing"}}}
	if h, err := interleave.NewHunter(options(t, "", 2)).Hunt(t.Context(), m); err == nil {
		t.Errorf("it counts as %+v", h)
	}
}
