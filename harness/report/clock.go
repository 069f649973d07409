package report

import (
	"time"

	"github.com/interlock-harness/interlock/harness/history"
)

// clock places what a database dated on the clock of the history.
type clock struct {
	wall  time.Time // at atUS
	atUS  int64
	known bool
}

// clockOf reads the first line of a history.
func clockOf(all []history.Event) clock {
	for _, e := range all {
		if e.Kind != history.Note || e.Op != NoteRun {
			continue
		}
		var run RunFacts
		if e.Decode(&run) != nil {
			break
		}
		if wall, err := time.Parse(time.RFC3339Nano, run.Wall); err == nil {
			return clock{wall, e.AtUS, true}
		}
		break
	}
	return clock{}
}

// at returns the time on the history's clock.
func (c clock) at(stamp string) (int64, bool) {
	t, err := time.Parse(time.RFC3339Nano, stamp)
	if err != nil || !c.known {
		return 0, false
	}
	return c.atUS + t.Sub(c.wall).Microseconds(), true
}
