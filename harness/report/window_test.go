package report_test

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/interlock-harness/interlock/harness/history"
	"github.com/interlock-harness/interlock/harness/report"
)

// TestAWindowKeepsTheEndOfWhatItBegan cuts a history in the middle of an operation,
// a provider's call and a fault: their ends are kept, and nothing that began later.
func TestAWindowKeepsTheEndOfWhatItBegan(t *testing.T) {
	w := report.Window{Limit: 4}
	for i, e := range []history.Event{
		{Kind: history.Phase}, {Kind: history.Invoke, Call: 1}, {Kind: history.Arrive, Call: 2}, {Kind: history.Armed, Call: 3},
		{Kind: history.Invoke, Call: 4}, {Kind: history.OK, Call: 4}, {Kind: history.Fired, Call: 3}, {Kind: history.OK, Call: 1},
		{Kind: history.Info, Call: 1}, {Kind: history.Answer, Call: 2}, {Kind: history.Note}, {Kind: history.Healed, Call: 3},
	} {
		e.N = int64(i + 1)
		w.Add(e)
	}
	var kept []int64
	for _, e := range w.Events {
		kept = append(kept, e.N)
	}
	if want := []int64{1, 2, 3, 4, 8, 10, 12}; !slices.Equal(kept, want) || w.LeftOut != 5 {
		t.Errorf("kept %v and left out %d, want %v and 5", kept, w.LeftOut, want)
	}
}

// TestALongPlayThatPassedLeavesNothingUnanswered: the page keeps the beginning of
// it, and there no answered operation may look as if it had none.
func TestALongPlayThatPassedLeavesNothingUnanswered(t *testing.T) {
	good := stored(t, "good-wander-*")
	events := slices.Clone(good[sortedKeys(good)[0]])
	var asked, answered history.Event // the last read, to repeat
	for _, e := range events {
		if e.Kind == history.OK && e.Op == history.OpGet {
			answered = e
		}
	}
	for _, e := range events {
		if e.Kind == history.Invoke && e.Call == answered.Call {
			asked = e
		}
	}
	const many = 300
	for call := range int64(many) {
		asked.Call = 100_000 + call
		events = append(events, asked)
	}
	for call := range int64(many) {
		answered.Call = 100_000 + call
		events = append(events, answered)
	}
	s := newRun(t, filepath.Join(t.TempDir(), "out"), map[string][]history.Event{"wander": events}, nil, nil)
	if err := s.folder.Write(&s.run); err != nil {
		t.Fatal(err)
	}
	p := unpack(t, read(t, s.folder.Dir, report.HTMLFile)).Plays[0]
	if p.Verdict != "pass" || p.LeftOut == 0 {
		t.Fatalf("a play that came out %s, with %d events left out: nothing is tested", p.Verdict, p.LeftOut)
	}
	for i, look := range p.Look {
		if report.Look(look) == report.OpUnknown {
			t.Errorf("event %d, which was answered, is shown as unknown", p.N[i])
		}
	}
}
