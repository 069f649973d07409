package plan_test

import (
	"os"
	"testing"

	"github.com/interlock-harness/interlock/harness/plan"
)

// TestMutantsAreFoundShrunkAndReplayed is the proof that a search finds what it is
// for: with each mutant a plan of seed 1 breaks an invariant, shrinks to at most 6
// operations and 2 faults, and breaks it in 20 of 20 replays. It takes about ten
// minutes, and runs with INTERLOCK_LONG=1.
func TestMutantsAreFoundShrunkAndReplayed(t *testing.T) {
	if os.Getenv("INTERLOCK_LONG") == "" {
		t.Skip("set INTERLOCK_LONG=1")
	}
	for _, name := range []string{
		"check-then-insert", "advisory-lock-too-short", "read-then-write", "last-write-wins", "cancelled-attempt-may-win", "no-open-attempt-index",
		"unknown-does-not-block", "deadline-is-failure", "payload-ignored", "lost-commit-is-success", "race-not-recorded",
	} {
		t.Run(name, func(t *testing.T) {
			const plans, times = 200, 20
			s, err := plan.Field{Mutant: name, Plays: 1000}.Open(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			}()
			sum, err := plan.Search{Seed: 1, Plans: plans, Mutant: name, Lanes: 4}.Run(t.Context(), s)
			if err != nil || sum.Found == nil {
				t.Fatalf("not found in %d plans: %v", sum.Played, err)
			}
			small, err := plan.Smaller(t.Context(), s, *sum.Found)
			if err != nil {
				t.Fatal(err)
			}
			operations, faults := small.Size()
			broke, err := plan.Again(t.Context(), s, small.Plan, times, nil)
			t.Logf("plan %d, %d operations, %d faults, %s in %d of %d replays", small.Number, operations, faults, small.Invariant, broke[small.Invariant], times)
			if err != nil || operations > 6 || faults > 2 || broke[small.Invariant] != times {
				t.Errorf("%v: %v", err, small.Steps)
			}
		})
	}
}
