package history

import (
	"strings"
	"testing"
	"time"
)

// The clock of a history is monotonic: a wall clock that is set while a scenario
// runs moves no event. Were its start a reading of the wall clock alone, Since would
// follow the jump.
func TestTheClockOfAHistoryIsMonotonic(t *testing.T) {
	if start := New().log.start.String(); !strings.Contains(start, " m=") {
		t.Errorf("a history starts at %s, which has no monotonic reading", start)
	}
}

// Even a clock that is set back an hour in the middle takes no event before the one
// that was recorded first, and one that is set ahead counts no time twice.
func TestAClockThatIsSetBackMovesNoEventBack(t *testing.T) {
	r := New()
	r.log.start = r.log.start.Add(-time.Minute)
	first := r.Record(Event{Lane: "client", Actor: "a", Kind: Note}, nil)
	r.log.start = r.log.start.Add(time.Hour) // as if the clock said an hour less
	second := r.Record(Event{Lane: "client", Actor: "a", Kind: Note}, nil)
	if first.AtUS < time.Minute.Microseconds() || second.AtUS != first.AtUS {
		t.Errorf("events at %d and %d us", first.AtUS, second.AtUS)
	}
}
