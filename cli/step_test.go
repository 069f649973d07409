package cli_test

import (
	"strings"
	"testing"

	"github.com/interlock-harness/interlock/cli"
	"github.com/interlock-harness/interlock/harness/history"
	"github.com/interlock-harness/interlock/harness/invariant"
)

// TestStepShowsOneEventAtATime types what a person would.
func TestStepShowsOneEventAtATime(t *testing.T) {
	rec := history.New().Child("reverse-order")
	rec.Phase(history.PhaseMain, history.PhaseFacts{})
	first := rec.Record(history.Event{Lane: "client", Actor: "client-1", Kind: history.Invoke, Op: history.OpGet, Call: 1}, nil)
	proof := rec.Record(history.Event{Lane: "client", Actor: "client-1", Kind: history.OK, Op: history.OpGet, Call: 1, Status: 200}, nil)
	rec.Phase(history.PhaseHeal, history.PhaseFacts{})
	rec.Note("harness", "\x1b[2J", "end", nil)
	findings := []invariant.Finding{
		{Invariant: "I5", Verdict: invariant.Violation, Sentence: "Two winners.", Events: []int64{first.N, proof.N}},
		{Invariant: "I1", Verdict: invariant.Inconclusive, Sentence: "Nothing fired.", Events: []int64{1}},
	}
	for _, c := range []struct {
		typed      string
		shown      int // events
		violations int
	}{
		{"q\n", 1, 0}, {"\n\nq\n", 3, 1}, {"\n\n\n\n", 4, 1}, {"v\nq\n", 2, 1}, {"v\nv\n", 4, 1}, {"", 1, 0}, {"\n", 2, 1},
	} {
		t.Run(strings.ReplaceAll(c.typed, "\n", "."), func(t *testing.T) {
			var out strings.Builder
			if err := cli.Step(strings.NewReader(c.typed), &out, "reverse-order", rec.Events(), findings); err != nil {
				t.Fatal(err)
			}
			text := out.String()
			if n := strings.Count(text, "/4 "); n != c.shown {
				t.Errorf("%d events are shown, want %d:\n%s", n, c.shown, text)
			}
			if n := strings.Count(text, "violation I5: Two winners."); n != c.violations || strings.Contains(text, "I1") {
				t.Errorf("%d violations are shown, want %d:\n%s", n, c.violations, text)
			}
			if strings.Contains(text, "\x1b") {
				t.Errorf("control characters of the history: %q", text)
			}
		})
	}
}

func TestStepOfNothingSaysSo(t *testing.T) {
	var out strings.Builder
	if err := cli.Step(strings.NewReader(""), &out, "x", nil, nil); err != nil || out.String() != "x recorded nothing\n" {
		t.Errorf("%v, %q", err, out.String())
	}
}
