package plan_test

import (
	"os"
	"slices"
	"testing"

	"github.com/interlock-harness/interlock/harness/invariant"
	"github.com/interlock-harness/interlock/harness/plan"
	"github.com/interlock-harness/interlock/harness/stage"
	"github.com/interlock-harness/interlock/service"
)

// TestMain lets this test binary be the service too.
func TestMain(m *testing.M) {
	stage.Child(service.Main)
	os.Exit(m.Run())
}

func open(t *testing.T, mutant string) *stage.Stage {
	t.Helper()
	s, err := plan.Field{Mutant: mutant, Plays: 100}.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// race is a plan in which the first attempt of a job answers after the second has
// won, in the company of a job that has nothing to do with it.
var race = plan.Plan{Format: plan.Format, Invariant: "I5", Steps: []plan.Step{
	{Do: plan.LostResponse, Job: "b"}, {Do: plan.Submit, Job: "b", Clients: 3},
	{Do: plan.Stall, Job: "a", N: 1}, {Do: plan.Submit, Job: "a"}, {Do: plan.Release, Job: "a", N: 1},
	{Do: plan.Read, Job: "b"}, {Do: plan.Start, Job: "a"}, {Do: plan.SubmitOther, Job: "b"}, {Do: plan.Answer, Job: "a", N: 1},
}}

func TestAMutantIsFoundShrunkAndReplayed(t *testing.T) {
	s := open(t, "last-write-wins")
	played, err := race.Play(t.Context(), s)
	if err != nil || !played.Violated("I5") {
		t.Fatalf("%+v %v", played.Findings, err)
	}
	small, err := plan.Smaller(t.Context(), s, race)
	if err != nil {
		t.Fatal(err)
	}
	if operations, faults := small.Size(); operations > 6 || faults > 2 || slices.ContainsFunc(small.Steps, func(s plan.Step) bool { return s.Job == "b" }) {
		t.Errorf("shrunk to %d operations and %d faults: %v", operations, faults, small.Steps)
	}
	const times = 10
	broke, err := plan.Again(t.Context(), s, small.Plan, times, nil)
	if err != nil || broke["I5"] != times {
		t.Errorf("I5 in %d of %d replays: %v", broke["I5"], times, err)
	}
}

// What only clients in the same millisecond could break is broken each time when
// the order of their statements is part of the plan.
func TestAPinnedRaceIsReplayedEachTime(t *testing.T) {
	for mutant, c := range map[string]struct {
		by    invariant.ID
		steps []plan.Step
	}{
		"check-then-insert": {"I1", []plan.Step{{Do: plan.HoldCommit, Job: "a"}, {Do: plan.Submit, Job: "a", Clients: 2}}},
		"read-then-write": {"I5", []plan.Step{{Do: plan.Stall, Job: "a"}, {Do: plan.Submit, Job: "a"}, {Do: plan.Release, Job: "a", N: 1},
			{Do: plan.Start, Job: "a"}, {Do: plan.LockJob, Job: "a"}, {Do: plan.Answer, Job: "a"}}},
	} {
		t.Run(mutant, func(t *testing.T) {
			const times = 20
			broke, err := plan.Again(t.Context(), open(t, mutant), plan.Plan{Format: plan.Format, Steps: c.steps}, times, nil)
			if err != nil || broke[c.by] != times {
				t.Errorf("%s in %d of %d replays: %v", c.by, broke[c.by], times, err)
			}
		})
	}
}

func TestTheCleanServicePassesEveryStep(t *testing.T) {
	s := open(t, "")
	played, err := race.Play(t.Context(), s)
	if err != nil || played.Verdict != invariant.Pass {
		t.Errorf("the race: %s %+v %v", played.Verdict, played.Findings, err)
	}
	if played.Fired != played.Armed || played.Armed < 2 {
		t.Errorf("%d of %d faults fired", played.Fired, played.Armed)
	}
	var every []plan.Step // each verb once, on a job of its own, with what it needs
	for i, do := range []plan.Verb{
		plan.LostResponse, plan.LostRequest, plan.Duplicate, plan.AckLost, plan.CommitLost, plan.HoldCommit, plan.Refuse, plan.BreakOff, plan.Reject,
		plan.KillWorker, plan.KillAPI, plan.PauseWorker, plan.LockJob,
	} {
		job := "v" + string(rune('a'+i))
		fault := plan.Step{Do: do, Job: job, N: 1}
		if fault.Edge() == "process" {
			fault.Job, fault.N = "", 0
		}
		if do == plan.LockJob {
			every = append(every, plan.Step{Do: plan.Stall, Job: job, N: 1}, plan.Step{Do: plan.Submit, Job: job}, fault, plan.Step{Do: plan.Answer, Job: job})
			continue
		}
		every = append(every, fault, plan.Step{Do: plan.Submit, Job: job, Clients: 2}, plan.Step{Do: plan.SubmitForeign, Job: job}, plan.Step{Do: plan.Cancel, Job: job})
	}
	// A held COMMIT of a start, with others behind it, while each call is held.
	every = append(every, plan.Step{Do: plan.Stall, Job: "z"}, plan.Step{Do: plan.Submit, Job: "z"}, plan.Step{Do: plan.Release, Job: "z", N: 1},
		plan.Step{Do: plan.HoldCommit, Job: "z"}, plan.Step{Do: plan.Start, Job: "z", Clients: 3}, plan.Step{Do: plan.Answer, Job: "z"})
	p := plan.Plan{Format: plan.Format, Steps: every}
	if err := p.Check(); err != nil {
		t.Fatal(err)
	}
	played, err = p.Play(t.Context(), s)
	if err != nil || played.Verdict != invariant.Pass || played.Armed != played.Fired {
		t.Errorf("every fault: %s, %d of %d fired, %+v %v", played.Verdict, played.Fired, played.Armed, played.Findings, err)
	}
}

func TestASearchTellsOfEachPlanOnce(t *testing.T) {
	s := open(t, "")
	seen := map[int]int{}
	sum, err := plan.Search{Seed: 5, Plans: 8, Shard: plan.Shard{Index: 2, Of: 2}, Lanes: 3, Done: func(p plan.Plan, _ plan.Played) { seen[p.Number]++ }}.Run(t.Context(), s)
	if err != nil || sum.Played != 4 || sum.Violations != 0 || len(seen) != 4 || seen[2]*seen[4]*seen[6]*seen[8] != 1 {
		t.Errorf("%+v %v %v", sum, seen, err)
	}
}
