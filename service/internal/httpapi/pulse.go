package httpapi

import (
	"context"
	"sync"
	"time"

	"github.com/interlock-harness/interlock/service/internal/job"
)

// pulse tells waiters (Prefer: wait, event streams) that a job moved. All
// waiters of a process share one statement per beat, and without waiters there
// is no beat at all. It only wakes: what a waiter answers it reads itself.
type pulse struct {
	store Historian
	mu    sync.Mutex
	jobs  map[job.ID]*watched
	wake  chan struct{} // a first waiter came
}

type watched struct {
	waiters int
	seen    job.Pulse
	moved   chan struct{} // closed and replaced when the job moved
}

// Beats: quick while a job moves, slower while nothing does.
const (
	firstBeat = 5 * time.Millisecond
	lastBeat  = 100 * time.Millisecond
)

func newPulse(store Historian) *pulse {
	return &pulse{store: store, jobs: make(map[job.ID]*watched), wake: make(chan struct{}, 1)}
}

// watch begins to wait for job id, of which the caller has seen so much. The
// function moved returns a channel that is closed when the job is no more at
// what was last reported.
func (p *pulse) watch(id job.ID) (moved func() <-chan struct{}, leave func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	w := p.jobs[id]
	if w == nil {
		w = &watched{moved: make(chan struct{})}
		p.jobs[id] = w
	}
	w.waiters++
	select {
	case p.wake <- struct{}{}:
	default:
	}
	moved = func() <-chan struct{} {
		p.mu.Lock()
		defer p.mu.Unlock()
		return w.moved
	}
	leave = func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if w.waiters--; w.waiters == 0 {
			delete(p.jobs, id)
		}
	}
	return moved, leave
}

// run beats until ctx ends. A store that cannot be reached is asked again.
func (p *pulse) run(ctx context.Context) {
	beat := firstBeat
	timer := time.NewTimer(beat)
	defer timer.Stop()
	for {
		ids := p.waitedFor()
		if len(ids) == 0 {
			select {
			case <-ctx.Done():
				return
			case <-p.wake:
				beat = firstBeat
				continue
			}
		}
		found, err := p.store.Pulse(ctx, ids)
		if err == nil && p.report(found) {
			beat = firstBeat
		} else {
			beat = min(beat*2, lastBeat)
		}
		timer.Reset(beat)
		select {
		case <-ctx.Done():
			return
		case <-p.wake:
			beat = firstBeat
		case <-timer.C:
		}
	}
}

func (p *pulse) waitedFor() []job.ID {
	p.mu.Lock()
	defer p.mu.Unlock()
	ids := make([]job.ID, 0, len(p.jobs))
	for id := range p.jobs {
		ids = append(ids, id)
	}
	return ids
}

// report wakes the waiters of every job that is not where it was, and says
// whether there was one.
func (p *pulse) report(found map[job.ID]job.Pulse) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	any := false
	for id, now := range found {
		w := p.jobs[id]
		if w == nil || w.seen == now {
			continue
		}
		any = true
		w.seen = now
		close(w.moved)
		w.moved = make(chan struct{})
	}
	return any
}
