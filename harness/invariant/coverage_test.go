package invariant_test

import (
	"testing"

	"github.com/interlock-harness/interlock/harness/history"
	"github.com/interlock-harness/interlock/harness/invariant"
)

func TestCoverageCountsLegalMovesAndRefusedIllegalOnes(t *testing.T) {
	var histories []invariant.History
	for _, story := range good {
		histories = append(histories, invariant.Open(story()))
	}
	w := newWorld("refusals")
	j := w.submit("o-1", "k-1", plain)
	w.run(j, j.attempts[0])
	w.invoke("operator-1", history.OpRelease, "operator", "", j.ID, j.attempts[0].ID, nil).fail(409, history.Problem{Type: "/problems/not-releasable", State: "succeeded"})
	w.invoke("harness", history.OpEdge, "o-1", "", j.ID, j.attempts[0].ID, history.RequestFacts{From: "succeeded", To: "running"}).fail(409, history.Problem{})
	histories = append(histories, invariant.Open(w.events))
	table := invariant.Coverage(histories...)
	at := func(machine, from, to string) invariant.Edge {
		for _, e := range table {
			if e.Machine == machine && e.From == from && e.To == to {
				return e
			}
		}
		t.Fatalf("no edge %s %s -> %s", machine, from, to)
		return invariant.Edge{}
	}
	if e := at("attempt", "unknown", "released"); !e.Legal || e.Seen < 3 || !e.Covered() {
		t.Errorf("%+v", e)
	}
	if e := at("attempt", "succeeded", "running"); e.Legal || e.Refused != 1 || !e.Covered() {
		t.Errorf("%+v", e)
	}
	if e := at("attempt", "succeeded", "released"); e.Refused != 1 {
		t.Errorf("%+v", e)
	}
	if e := at("job", "open", "cancelled"); !e.Legal || e.Seen == 0 {
		t.Errorf("%+v", e)
	}
	if e := at("job", "succeeded", "cancelled"); e.Legal || e.Refused != 1 {
		t.Errorf("%+v", e)
	}
	if missing := invariant.Missing(invariant.Coverage(invariant.Open(good["one-click"]()))); len(missing) < 10 {
		t.Errorf("one click exercises all but %d edges", len(missing))
	}
	legal := 0
	for _, e := range table {
		if e.Legal && e.Machine == "attempt" {
			legal++
		}
	}
	if legal != 1+3+6+5+4 {
		t.Errorf("%d legal moves of an attempt, want 19", legal)
	}
}
