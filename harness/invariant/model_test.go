package invariant_test

import (
	"fmt"
	"testing"

	"github.com/interlock-harness/interlock/harness/history"
	"github.com/interlock-harness/interlock/harness/invariant"
)

// contradiction is a history that no cheap invariant has a word for: both
// answers are fine alone, but the first submit had returned before the second
// left, and the second was told that a third intent holds the key.
func contradiction() []history.Event {
	w := newWorld("contradiction")
	third := plain
	third.Input = map[string]any{"text": "c"}
	w.invoke("client-1", history.OpSubmit, "o-1", "k-1", "", "", history.SubmitFacts{Intent: mustJSON(plain)}).
		fail(409, history.Problem{Type: "/problems/idempotency-key-reused"})
	o := w.invoke("client-2", history.OpSubmit, "o-1", "k-1", "", "", history.SubmitFacts{Intent: mustJSON(third)})
	j := w.create("o-1", "k-1", third)
	o.ok(201, j.ID, w.view(j))
	w.run(j, j.attempts[0])
	return w.events
}

func TestModelFindsWhatNoSingleRuleNames(t *testing.T) {
	r := invariant.Judge(contradiction(), 4, invariant.Expect{})
	if r.Verdict != invariant.Violation || !r.Violated("I1") {
		t.Error(explain(r))
	}
}

func unknownSubmits(intents int) []history.Event {
	w := newWorld("unknown")
	w.submitAndRun("o-1", "k-0")
	for i := range intents {
		in := plain
		in.Input = map[string]any{"n": i}
		w.invoke("client-1", history.OpSubmit, "o-1", "k-1", "", "", history.SubmitFacts{Intent: mustJSON(in)}).info(0)
	}
	in := plain
	in.Input = map[string]any{"n": intents - 1}
	j := w.create("o-1", "k-1", in)
	w.invoke("client-1", history.OpSubmit, "o-1", "k-1", "", "", history.SubmitFacts{Intent: mustJSON(in)}).ok(200, j.ID, w.view(j))
	w.run(j, j.attempts[0])
	return w.audit()
}

func TestModelGivesUpAboveTwelveUnknownIntents(t *testing.T) {
	for intents, want := range map[int]invariant.Verdict{12: invariant.Pass, 13: invariant.Inconclusive} {
		t.Run(fmt.Sprint(intents), func(t *testing.T) {
			if r := invariant.Judge(unknownSubmits(intents), 4, invariant.Expect{}); r.Verdict != want {
				t.Errorf("want %s, have %s", want, explain(r))
			}
		})
	}
}

// clicks is n submits of one intent at once, answered in another order than they
// were made; then odd answers, if any, name a second job.
func clicks(n int, odd ...int) []history.Event {
	w := newWorld("clicks")
	var calls []op
	for i := range n {
		calls = append(calls, w.invoke(fmt.Sprintf("client-%d", i), history.OpSubmit, "o-1", "k-1", "", "", history.SubmitFacts{Intent: mustJSON(plain)}))
	}
	j := w.create("o-1", "k-1", plain)
	for i := range n {
		k := i * 37 % n // every call once, in an order of its own
		if i == n/2 {
			w.run(j, j.attempts[0])
		}
		view := w.view(j)
		if len(odd) > 0 && k == odd[0] {
			view.ID = "another-job"
		}
		calls[k].ok(200, view.ID, view)
	}
	return w.audit()
}

func TestModelSearchesAHundredClicksAtOnce(t *testing.T) {
	if r := invariant.Judge(clicks(100), 4, invariant.Expect{}); r.Verdict != invariant.Pass {
		t.Error(explain(r))
	}
	if r := invariant.Judge(clicks(100, 61), 4, invariant.Expect{}); !r.Violated("I1") {
		t.Error(explain(r))
	}
}
