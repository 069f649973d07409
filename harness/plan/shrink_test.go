package plan_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/interlock-harness/interlock/harness/invariant"
	"github.com/interlock-harness/interlock/harness/plan"
)

// breaksWith is a service that breaks I5 whenever a plan has these steps in this
// order.
func breaksWith(wanted ...plan.Step) func(context.Context, plan.Plan) ([]invariant.ID, error) {
	return func(_ context.Context, p plan.Plan) ([]invariant.ID, error) {
		left := wanted
		for _, s := range p.Steps {
			if len(left) > 0 && s.Do == left[0].Do && s.Job == left[0].Job && s.N == left[0].N {
				left = left[1:]
			}
		}
		if len(left) > 0 {
			return []invariant.ID{"I9"}, nil
		}
		return []invariant.ID{"I5"}, nil
	}
}

func TestShrinkingKeepsNothingButWhatBreaksTheSameInvariant(t *testing.T) {
	wanted := []plan.Step{
		{Do: plan.Stall, Job: "j3", N: 1}, {Do: plan.Submit, Job: "j3"}, {Do: plan.Release, Job: "j3", N: 1},
		{Do: plan.Start, Job: "j3"}, {Do: plan.Answer, Job: "j3", N: 1},
	}
	p := plan.Plan{Format: plan.Format, Invariant: "I5"}
	for i, w := range wanted {
		p.Steps = append(p.Steps, plan.Draw(1, 40+i).Steps...)
		p.Steps = append(p.Steps, w)
	}
	small, err := plan.Shrink(t.Context(), p, 1, breaksWith(wanted...))
	if err != nil || !slices.Equal(small.Steps, wanted) {
		t.Errorf("%d steps became %v in %d plays: %v", len(p.Steps), small.Steps, small.Plays, err)
	}
}

func TestOneSilentProviderStandsForSeveralStalls(t *testing.T) {
	p := plan.Plan{Format: plan.Format, Invariant: "I5", Steps: []plan.Step{
		{Do: plan.Stall, Job: "a", N: 1}, {Do: plan.Submit, Job: "a"}, {Do: plan.Stall, Job: "a", N: 2}, {Do: plan.Start, Job: "a"},
	}}
	held := func(_ context.Context, p plan.Plan) ([]invariant.ID, error) {
		first, second, steps := false, false, 0
		for _, s := range p.Steps {
			if s.Do == plan.Stall {
				first, second = first || s.N < 2, second || s.N != 1
				continue
			}
			steps++
		}
		if first && second && steps == 2 {
			return []invariant.ID{"I5"}, nil
		}
		return nil, nil
	}
	small, err := plan.Shrink(t.Context(), p, 1, held)
	want := []plan.Step{{Do: plan.Stall, Job: "a"}, {Do: plan.Submit, Job: "a"}, {Do: plan.Start, Job: "a"}}
	if err != nil || !slices.Equal(small.Steps, want) {
		t.Errorf("%v %v", small.Steps, err)
	}
}

func TestShrinkingEndsWithItsContextAndOnErrors(t *testing.T) {
	p := plan.Draw(1, 3)
	p.Invariant = "I5"
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := plan.Shrink(gone, p, 1, breaksWith()); !errors.Is(err, context.Canceled) {
		t.Errorf("a context that has ended: %v", err)
	}
	broke := errors.New("the stage broke")
	_, err := plan.Shrink(t.Context(), p, 1, func(context.Context, plan.Plan) ([]invariant.ID, error) { return nil, broke })
	if !errors.Is(err, broke) {
		t.Errorf("an error of the stage: %v", err)
	}
}
