package report

import (
	"testing"

	"github.com/interlock-harness/interlock/harness/history"
	"github.com/interlock-harness/interlock/harness/invariant"
)

// playOfTest is a play with a verdict, from one second of the run to another.
func playOfTest(name string, v invariant.Verdict, from, to int64) (Play, []history.Event) {
	return Play{History: name, Verdict: v}, []history.Event{{Scenario: name, AtUS: from * 1e6}, {Scenario: name, AtUS: to * 1e6}}
}

func TestTheStripShowsTheWorstVerdictAtEachMoment(t *testing.T) {
	run, events := Run{}, map[string][]history.Event{}
	for _, p := range []struct {
		name     string
		verdict  invariant.Verdict
		from, to int64
	}{{"first", invariant.Pass, 10, 40}, {"second", invariant.Violation, 30, 50}, {"third", invariant.Inconclusive, 45, 55}, {"last", invariant.Pass, 65, 70}} {
		play, list := playOfTest(p.name, p.verdict, p.from, p.to)
		run.Plays = append(run.Plays, play)
		events[p.name] = list
	}
	strip := run.strip(events)
	type column struct {
		play    string
		verdict invariant.Verdict
		low     bool
	}
	var got []column
	next := 0
	for _, c := range strip.Columns {
		if c.X != next {
			t.Fatalf("a column begins at %d, the one before ended at %d", c.X, next)
		}
		next = c.X + c.Width
		got = append(got, column{c.Play, c.Verdict, c.Low})
	}
	want := []column{{"first", "pass", true}, {"second", "violation", false}, {"third", "inconclusive", false}, {"third", "", false}, {"last", "pass", true}}
	if len(got) != len(want) || next != stripWidth {
		t.Fatalf("%v up to %d, want %v up to %d", got, next, want, stripWidth)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("column %d shows %v, want %v", i, got[i], want[i])
		}
	}
	if x := strip.Columns[1].X; x < 195 || x > 205 {
		t.Errorf("the violation begins at column %d, and at a third of the run", x)
	}
	if strip.Note != "The whole run, 60 s: full columns did not come out as they must." {
		t.Errorf("it says %q", strip.Note)
	}
}

// TestTheStripOfManyPlaysIsBounded: however many plays, the page holds as many
// columns as there are, and a violation among them is never lost.
func TestTheStripOfManyPlaysIsBounded(t *testing.T) {
	run, events := Run{}, map[string][]history.Event{}
	for i := range 5000 {
		name, verdict := itoa(int64(i)), invariant.Pass
		if i == 4321 {
			verdict = invariant.Violation
		}
		play, list := playOfTest(name, verdict, int64(i), int64(i)+1)
		run.Plays = append(run.Plays, play)
		events[name] = list
	}
	strip := run.strip(events)
	violated := 0
	for _, c := range strip.Columns {
		if c.Verdict == invariant.Violation && c.Play == "4321" {
			violated++
		}
	}
	if len(strip.Columns) > stripWidth || violated != 1 {
		t.Errorf("%d columns, of which %d show the violation", len(strip.Columns), violated)
	}
	if none := (&Run{Plays: []Play{{History: "x"}}}).strip(nil); none != nil {
		t.Errorf("a run of which nothing is recorded has a strip: %v", none)
	}
}
