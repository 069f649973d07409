package history

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"time"
)

// Part is the history of another process of this machine.
type Part struct {
	Events []Event
	// Began is the time of day at which its clock stood at 0.
	Began time.Time
	// Name is what a play of it is called in the whole; nil keeps the names.
	Name func(play string) string
}

// Adopt appends the events of parts in the order in which they happened: under new
// numbers, new numbers of calls, and at the time of r's own clock. The clocks of two
// processes are tied by the time of day; within a part the order never changes.
func (r *Recorder) Adopt(parts ...Part) {
	type place struct {
		at   int64
		part int
		e    Event
	}
	l := r.log
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Since(l.start).Microseconds()
	var all []place
	for i, p := range parts {
		offset, calls := p.Began.Sub(l.start.Round(0)).Microseconds(), l.calls
		for _, e := range p.Events {
			at := e.AtUS + offset
			if e.Call > 0 {
				e.Call += calls
				l.calls = max(l.calls, e.Call)
			}
			if p.Name != nil && e.Scenario != "" {
				e.Scenario = p.Name(e.Scenario)
			}
			all = append(all, place{min(at, now), i, e})
		}
	}
	slices.SortStableFunc(all, func(a, b place) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.part, b.part)) })
	if len(all) > 0 && l.closed && l.err == nil {
		l.err = fmt.Errorf("adopt %d events: %w", len(all), errClosed)
	}
	for _, p := range all {
		l.last++
		l.lastUS = max(l.lastUS, p.at)
		p.e.N, p.e.AtUS, p.e.Data = l.last, l.lastUS, bytes.Clone(p.e.Data) // not the whole line that it was read from
		l.events = append(l.events, p.e)
		l.write(p.e)
	}
}
