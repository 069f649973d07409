package report

import "github.com/interlock-harness/interlock/harness/history"

// keep cuts a history to limit events and the ends of what they began. Reads of
// tables go first: what they show of a play that passed is its end, which is known.
func keep(events []history.Event, limit int) []history.Event {
	if len(events) <= limit {
		return events
	}
	kept := Window{Limit: limit}
	for _, e := range events {
		if e.Kind != history.Snapshot && (e.Kind != history.Row || e.Op == history.TableEvents) {
			kept.Add(e)
		}
	}
	return kept.Events
}

// Window keeps the first events of a play, up to a limit. What they began is kept
// with its end, so that nothing looks unanswered because the answer was cut away.
type Window struct {
	Limit   int
	Events  []history.Event // at most twice as many
	LeftOut int
	open    map[int64]bool // calls whose end is still to come
}

// Add takes the next event of the play.
func (w *Window) Add(e history.Event) {
	begins, ends := false, false
	switch e.Kind {
	case history.Invoke, history.Arrive, history.Armed:
		begins = true
	case history.OK, history.Fail, history.Info, history.Answer, history.Healed:
		ends = w.open[e.Call]
	}
	if len(w.Events) >= w.Limit && !ends {
		w.LeftOut++
		return
	}
	if w.open == nil {
		w.open = map[int64]bool{}
	}
	if begins {
		w.open[e.Call] = true
	} else if ends {
		delete(w.open, e.Call)
	}
	w.Events = append(w.Events, e)
}
