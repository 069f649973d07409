package history_test

import (
	"bytes"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/interlock-harness/interlock/harness/history"
)

// TestAdoptedHistoriesBecomeOne puts two histories that overlap into a third: each
// keeps its order and its data, nothing shares a number, and the file can be read.
func TestAdoptedHistoriesBecomeOne(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.jsonl")
	whole, err := history.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	whole.Note("harness", "", "run", nil)
	now := time.Now()
	event := func(n, at, call int64, play, op string) history.Event {
		return history.Event{N: n, AtUS: at, Call: call, Scenario: play, Kind: history.Invoke, Op: op, Data: []byte(`{"op":"` + op + `"}`)}
	}
	named := func(to string) func(string) string { return func(play string) string { return play + to } }
	whole.Adopt(
		history.Part{Began: now.Add(-2 * time.Hour), Name: named("/1"), Events: []history.Event{event(1, 0, 1, "a", "first"), event(2, 5, 2, "a", "second")}},
		history.Part{Began: now.Add(-time.Hour), Name: named("/2"), Events: []history.Event{event(1, 0, 1, "a", "third"), event(2, 9, 0, "", "fourth")}},
		history.Part{Began: now.Add(time.Hour), Events: []history.Event{event(1, 0, 1, "b", "from a clock that runs ahead")}},
	)
	last := whole.Note("harness", "", "run-ended", nil)
	if err := whole.Close(); err != nil {
		t.Fatal(err)
	}
	events, err := history.ReadFile(path)
	if err != nil {
		t.Fatalf("it is no history any more: %v", err)
	}
	var got []string
	calls := map[int64]bool{}
	for _, e := range events[1 : len(events)-1] {
		got = append(got, e.Scenario+" "+e.Op)
		if e.Call > 0 && calls[e.Call] {
			t.Errorf("call %d is there twice", e.Call)
		}
		calls[e.Call] = true
		if !bytes.Equal(e.Data, []byte(`{"op":"`+e.Op+`"}`)) {
			t.Errorf("%s carries %s", e.Op, e.Data)
		}
	}
	want := []string{"a/1 first", "a/1 second", "a/2 third", " fourth", "b from a clock that runs ahead"}
	if !slices.Equal(got, want) {
		t.Errorf("the order is %q, want %q", got, want)
	}
	if last.N != int64(len(events)) {
		t.Errorf("the last event is number %d of %d", last.N, len(events))
	}
	for play, n := range map[string]int{"a/1": 2, "a/2": 1} {
		if own := history.Of(events, play); len(own) != n {
			t.Errorf("%s has %d events, want %d", play, len(own), n)
		}
		if history.Slug(play) != "a" || history.Slug(play+"#2") != "a" {
			t.Errorf("the scenario of %s is %s", play, history.Slug(play))
		}
	}
}

// TestAClosedHistoryAdoptsNothing: what comes too late is an error of the run.
func TestAClosedHistoryAdoptsNothing(t *testing.T) {
	r := history.New()
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	r.Adopt(history.Part{Events: []history.Event{{N: 1, Kind: history.Note}}})
	if err := r.Flush(); err == nil {
		t.Error("nothing says that an event came after the end")
	}
}
