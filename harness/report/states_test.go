package report_test

import (
	"strings"
	"testing"

	"github.com/interlock-harness/interlock/harness/invariant"
	"github.com/interlock-harness/interlock/harness/report"
)

func TestAFullRunThatLeavesAMoveOutIsInconclusive(t *testing.T) {
	whole := []invariant.Edge{
		{Machine: "attempt", From: "", To: "starting", Legal: true, Seen: 3}, {Machine: "attempt", From: "starting", To: "starting"},
		{Machine: "attempt", From: "lost", To: "running", Refused: 1},
	}
	play := report.Play{Slug: "reverse-order", Verdict: invariant.Pass}
	for name, c := range map[string]struct {
		full  bool
		extra []invariant.Edge
		want  invariant.Verdict
	}{
		"all exercised":            {true, nil, invariant.Pass},
		"a legal move never made":  {true, []invariant.Edge{{Machine: "attempt", From: "unknown", To: "lost", Legal: true}}, invariant.Inconclusive},
		"an illegal one not tried": {true, []invariant.Edge{{Machine: "job", From: "cancelled", To: "succeeded"}}, invariant.Inconclusive},
		"a part of the scenarios":  {false, []invariant.Edge{{Machine: "attempt", From: "unknown", To: "lost", Legal: true}}, invariant.Pass},
	} {
		t.Run(name, func(t *testing.T) {
			r := report.Run{Full: c.full, Plays: []report.Play{play}, Coverage: append(whole[:3:3], c.extra...)}
			if got := r.Verdict(); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
			text := r.Summary(report.Places{}, report.Style{})
			if c.full != strings.Contains(text, "States: ") || c.want == invariant.Inconclusive && !strings.Contains(text, "not exercised: "+c.extra[0].String()) {
				t.Errorf("it says\n%s", text)
			}
		})
	}
}
