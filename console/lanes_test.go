package console

import (
	"testing"
	"time"
)

// TestLanesKeepTheOrderOfTime draws things that happen 5 ms and 30 s apart: all
// must be seen, in order, inside the picture.
func TestLanesKeepTheOrderOfTime(t *testing.T) {
	begin := time.Date(2026, 11, 30, 10, 0, 0, 0, time.UTC)
	at := func(ms int) time.Time { return begin.Add(time.Duration(ms) * time.Millisecond) }
	d := &drawing{begin: begin, now: at(31_000), end: at(31_000)}
	l := d.row("attempt a1", "")
	l.States = true
	l.add(at(2), at(7), bar{Class: "state starting", Label: "starting"})
	l.add(at(7), at(700), bar{Class: "state running", Label: "running"})
	l.add(at(700), at(30_900), bar{Class: "state unknown", Label: "unknown"})
	l.add(at(30_900), at(30_900), bar{mark: true, Class: "end succeeded", Sign: "✓", Label: "succeeded"})
	drawn := d.lanes(false, "")
	bars := drawn.Rows[0].Bars
	last := -1.0
	for _, b := range bars {
		if b.X <= last || b.X < 0 || b.X+b.W > 100 {
			t.Errorf("%s stands at %.2f, width %.2f, after %.2f", b.Class, b.X, b.W, last)
		}
		if b.Y != bars[0].Y {
			t.Errorf("%s has left the row of its attempt", b.Class)
		}
		last = b.X
	}
	if bars[1].W < 10 || bars[2].W < 10 {
		t.Errorf("693 ms take %.1f %%, 30 s take %.1f %%: both must be seen", bars[1].W, bars[2].W)
	}
	if len(drawn.Folds) != 1 {
		t.Errorf("%d long stretches are marked, want that of 30 s", len(drawn.Folds))
	}
	if end := drawn.Ticks[len(drawn.Ticks)-1]; end.Label != "31.00 s" {
		t.Errorf("the last time is %q", end.Label)
	}
}

// TestLanesLabelsDoNotOverlap puts clicks close together: each label has a row
// where it does not touch another.
func TestLanesLabelsDoNotOverlap(t *testing.T) {
	begin := time.Now()
	d := &drawing{begin: begin, end: begin.Add(time.Second)}
	l := d.row("you", "")
	for i := range 5 {
		from := begin.Add(time.Duration(i) * 5 * time.Millisecond)
		l.add(from, from.Add(time.Millisecond), bar{Class: "act", Label: "submit → 200 OK replayed"})
	}
	rows := map[int]bool{}
	for _, b := range d.lanes(false, "").Rows[0].Bars {
		if rows[b.Y] {
			t.Errorf("two labels in the row at %d", b.Y)
		}
		rows[b.Y] = true
	}
}

// TestLanesLeaveOutWordsOnAPhone puts two marks into one row: on a narrow screen
// the words of the first would run into the second, and are left out there.
func TestLanesLeaveOutWordsOnAPhone(t *testing.T) {
	begin := time.Now()
	for apart, wide := range map[time.Duration]bool{60 * time.Millisecond: true, 0: false} {
		d := &drawing{begin: begin, end: begin.Add(100 * time.Millisecond)}
		l := d.row("the result", "")
		l.add(begin, begin, bar{mark: true, Label: "gate shut, newcomer"})
		if apart > 0 {
			l.add(begin.Add(apart), begin.Add(apart), bar{mark: true, Label: "gate shut, newcomer"})
		}
		bars := d.lanes(false, "").Rows[0].Bars
		if apart > 0 && bars[0].Y != bars[1].Y {
			t.Fatal("the marks stand in two rows: nothing is tested")
		}
		if bars[0].Wide != wide {
			t.Errorf("another mark %v later: the words are for wide screens only: %v, want %v", apart, bars[0].Wide, wide)
		}
	}
}

func TestSpansReadAsPeopleSayThem(t *testing.T) {
	for d, want := range map[time.Duration]string{0: "0 ms", 34 * time.Millisecond: "34 ms", 2310 * time.Millisecond: "2.31 s", 250 * time.Second: "4 min 10 s", -time.Second: "-1.00 s"} {
		if got := span(d); got != want {
			t.Errorf("%v reads %q, want %q", d, got, want)
		}
	}
}
