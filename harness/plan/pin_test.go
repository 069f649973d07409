package plan_test

import (
	"slices"
	"testing"

	"github.com/interlock-harness/interlock/harness/plan"
)

func TestPinningLeavesNoOrderToLuck(t *testing.T) {
	for name, c := range map[string]struct {
		steps, want []plan.Step // want nil: nothing to pin
	}{
		"one client": {[]plan.Step{{Do: plan.Submit, Job: "a"}, {Do: plan.Answer, Job: "a", N: 1}}, nil},
		"clients at once": {
			[]plan.Step{{Do: plan.Submit, Job: "a", Clients: 3}, {Do: plan.Start, Job: "a", Clients: 2}},
			[]plan.Step{{Do: plan.HoldCommit, Job: "a"}, {Do: plan.Submit, Job: "a", Clients: 3}, {Do: plan.HoldCommit, Job: "a"}, {Do: plan.Start, Job: "a", Clients: 2}},
		},
		"pinned already": {[]plan.Step{{Do: plan.HoldCommit, Job: "a"}, {Do: plan.Submit, Job: "a", Clients: 3}, {Do: plan.LockJob, Job: "a"}, {Do: plan.Answer, Job: "a"}}, nil},
		"the gate of another job": {
			[]plan.Step{{Do: plan.HoldCommit, Job: "b"}, {Do: plan.Submit, Job: "a", Clients: 2}},
			[]plan.Step{{Do: plan.HoldCommit, Job: "b"}, {Do: plan.HoldCommit, Job: "a"}, {Do: plan.Submit, Job: "a", Clients: 2}},
		},
		"answers at once": {
			[]plan.Step{{Do: plan.Stall, Job: "a"}, {Do: plan.Answer, Job: "a"}},
			[]plan.Step{{Do: plan.Stall, Job: "a"}, {Do: plan.LockJob, Job: "a"}, {Do: plan.Answer, Job: "a"}},
		},
		"a delivery in two": {
			[]plan.Step{{Do: plan.Duplicate, Job: "a"}, {Do: plan.Submit, Job: "a"}},
			[]plan.Step{{Do: plan.HoldCommit, Job: "a"}, {Do: plan.Submit, Job: "a", Clients: 2}},
		},
	} {
		pinned, ok := plan.Plan{Format: plan.Format, Steps: c.steps}.Pinned()
		if ok != (c.want != nil) || ok && !slices.Equal(pinned.Steps, c.want) {
			t.Errorf("%s: %v %v", name, ok, pinned.Steps)
		}
	}
}
