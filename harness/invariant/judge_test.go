package invariant_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/interlock-harness/interlock/harness/history"
	"github.com/interlock-harness/interlock/harness/invariant"
)

func explain(r invariant.Result) string {
	text := string(r.Verdict)
	for _, f := range r.Findings {
		text += fmt.Sprintf("\n  %s %s %s expected %q found %q events %v", f.Verdict, f.Invariant, f.Sentence, f.Expected, f.Found, f.Events)
	}
	return text
}

func TestRightServicePasses(t *testing.T) {
	for name, story := range good {
		t.Run(name, func(t *testing.T) {
			if r := invariant.Judge(story(), 4, invariant.Expect{}); r.Verdict != invariant.Pass {
				t.Error(explain(r))
			}
		})
	}
}

func TestRightServicePassesWhateverItsUsersDo(t *testing.T) {
	for seed := range uint64(300) {
		if r := invariant.Judge(wander(seed, 60), 4, invariant.Expect{}); r.Verdict != invariant.Pass {
			t.Fatalf("seed %d: %s", seed, explain(r))
		}
	}
}

func TestVerdictsMixByWeight(t *testing.T) {
	order := []invariant.Verdict{invariant.Violation, invariant.Infrastructure, invariant.Inconclusive, invariant.Pass}
	for i, a := range order {
		for k, b := range order {
			if got, want := invariant.Worse(a, b), order[min(i, k)]; got != want {
				t.Errorf("%s and %s give %s, want %s", a, b, got, want)
			}
		}
	}
}

func TestJudgeIsInconclusiveWhereNothingIsProved(t *testing.T) {
	oneClick := good["one-click"]
	for _, c := range []struct {
		name   string
		events func() []history.Event
		expect invariant.Expect
		level  invariant.Level
		want   string
	}{
		{"empty", func() []history.Event { return nil }, invariant.Expect{}, 4, "No operation of the main phase succeeded."},
		{"a fault that did not fire", func() []history.Event {
			w := newWorld("canary")
			w.fault("stall", false)
			w.submitAndRun("o-1", "k-1")
			return w.audit()
		}, invariant.Expect{}, 4, "The fault stall was armed and did not fire."},
		{"a fault that was never armed", oneClick, invariant.Expect{Faults: []string{"stall"}}, 4, "The fault stall was never armed."},
		{"a probe that was not reached", func() []history.Event {
			w := newWorld("probe")
			w.add(history.Event{Kind: history.Declared, Op: "row-lock"}, nil)
			w.submitAndRun("o-1", "k-1")
			return w.audit()
		}, invariant.Expect{}, 4, "The probe row-lock was not reached."},
		{"a probe that was never declared", oneClick, invariant.Expect{Probes: []string{"row-lock"}}, 4, "The probe row-lock was never declared."},
		{"a named invariant without evidence", oneClick, invariant.Expect{Invariants: []invariant.ID{"I2"}}, 4, "The history holds nothing that bound intent (I2) could be judged by."},
		{"a named invariant above the level", oneClick, invariant.Expect{Invariants: []invariant.ID{"I7"}}, 0, "one call (I7) cannot be judged at level L0, it needs L1."},
		{"an invariant that does not exist", oneClick, invariant.Expect{Invariants: []invariant.ID{"I17"}}, 4, "The scenario names an invariant I17, which does not exist."},
		{"success only after healing", func() []history.Event {
			w := newWorld("late")
			w.invoke("client-1", history.OpSubmit, "o-1", "k-1", "", "", history.SubmitFacts{Intent: mustJSON(plain)}).info(503)
			w.add(history.Event{Kind: history.Phase, Op: history.PhaseHeal}, nil)
			w.submit("o-1", "k-1", plain)
			return w.events
		}, invariant.Expect{}, 4, "No operation of the main phase succeeded."},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := invariant.Judge(c.events(), c.level, c.expect)
			found := slices.ContainsFunc(r.Findings, func(f invariant.Finding) bool { return f.Sentence == c.want })
			if r.Verdict != invariant.Inconclusive || !found {
				t.Errorf("want inconclusive with %q, have %s", c.want, explain(r))
			}
		})
	}
}

func TestJudgeCallsABrokenStageInfrastructure(t *testing.T) {
	w := newWorld("broken")
	w.submitAndRun("o-1", "k-1")
	w.add(history.Event{Kind: history.Note, Op: history.NoteInfrastructure}, history.ErrorFacts{Error: "postgres did not start"})
	if r := invariant.Judge(w.audit(), 4, invariant.Expect{}); r.Verdict != invariant.Infrastructure {
		t.Error(explain(r))
	}
	events := good["one-click"]()
	for i := range events {
		if events[i].Kind == history.Row {
			events[i].Data = []byte(`{"id":7}`)
		}
	}
	if r := invariant.Judge(events, 4, invariant.Expect{}); r.Verdict != invariant.Infrastructure {
		t.Error("rows of another shape: " + explain(r))
	}
}

func TestJudgeSaysThatAnAnswerCannotBeRead(t *testing.T) {
	events := good["one-click"]()
	for i := range events {
		if events[i].Kind == history.OK && events[i].Op == history.OpGet {
			events[i].Data = []byte(`{"id":"j-1","version":"two"}`)
		}
	}
	if r := invariant.Judge(events, 4, invariant.Expect{}); r.Verdict != invariant.Inconclusive {
		t.Error(explain(r))
	}
}

func TestCanaryWantsAnotherVerdict(t *testing.T) {
	w := newWorld("canary")
	w.fault("stall", false)
	w.submitAndRun("o-1", "k-1")
	expect := invariant.Expect{Verdict: invariant.Inconclusive}
	if r := invariant.Judge(w.audit(), 4, expect); !r.Met(expect) || r.Met(invariant.Expect{}) {
		t.Error(explain(r))
	}
}
