package stage

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"
)

// underWay are the waits of this process, for a person who asks why nothing moves.
var underWay struct {
	mu    sync.Mutex
	n     int
	waits map[int]wait
}

type wait struct {
	what  string
	since time.Time
}

// Waits notes what somebody waits for, until the returned function is called.
func Waits(what string) (over func()) {
	underWay.mu.Lock()
	defer underWay.mu.Unlock()
	if underWay.waits == nil {
		underWay.waits = map[int]wait{}
	}
	underWay.n++
	n := underWay.n
	underWay.waits[n] = wait{what, time.Now()}
	return func() {
		underWay.mu.Lock()
		defer underWay.mu.Unlock()
		delete(underWay.waits, n)
	}
}

// Waiting tells what is played, oldest first: the gates that hold calls, the faults
// that are armed; then every wait, oldest first.
func (s *Stage) Waiting(to io.Writer) {
	s.worlds.mu.Lock()
	var worlds []*World
	for _, w := range s.worlds.byToken {
		worlds = append(worlds, w)
	}
	s.worlds.mu.Unlock()
	slices.SortFunc(worlds, func(a, b *World) int { return a.began.Compare(b.began) })
	if len(worlds) == 0 {
		_, _ = fmt.Fprintln(to, "between two plays")
	}
	for _, w := range worlds {
		_, _ = fmt.Fprintf(to, "%s, for %s\n", cmp.Or(w.Recorder.Scenario(), w.Name), since(w.began))
		w.mu.Lock()
		gates, faults := slices.Clone(w.gates), slices.Clone(w.faults)
		w.mu.Unlock()
		for _, g := range gates {
			if g.Shut() {
				_, _ = fmt.Fprintf(to, "  %s is shut, calls that came: %d\n", cmp.Or(g.Name, "a gate"), g.Calls())
			}
		}
		for _, f := range faults {
			_, _ = fmt.Fprintf(to, "  fault %s is not lifted\n", f.Name())
		}
	}
	underWay.mu.Lock()
	waits := make([]wait, 0, len(underWay.waits))
	for _, one := range underWay.waits {
		waits = append(waits, one)
	}
	underWay.mu.Unlock()
	slices.SortFunc(waits, func(a, b wait) int { return a.since.Compare(b.since) })
	for _, one := range waits {
		_, _ = fmt.Fprintf(to, "  waits until %s, for %s\n", one.what, since(one.since))
	}
}

func since(t time.Time) time.Duration { return time.Since(t).Round(100 * time.Millisecond) }
