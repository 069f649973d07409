package console

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/interlock-harness/interlock/harness/target"
)

// maxJobs is how many jobs the board holds, the newest.
const maxJobs = 1000

// board is what the database showed last.
type board struct {
	hub *hub

	mu    sync.Mutex
	jobs  map[string]target.LiveJob
	down  error // why the database does not answer
	since time.Time
	fresh time.Time     // when the newest look began
	wake  chan struct{} // closed and replaced at each change of a job
	look  chan struct{} // the same at each look
}

func newBoard(h *hub) *board {
	return &board{hub: h, jobs: map[string]target.LiveJob{}, wake: make(chan struct{}), look: make(chan struct{})}
}

func (b *board) changed(jobs []target.LiveJob) {
	b.mu.Lock()
	for _, j := range jobs {
		b.jobs[j.ID] = j
	}
	for len(b.jobs) > maxJobs {
		oldest := ""
		for id := range b.jobs { // ids are in the order of time
			if oldest == "" || id < oldest {
				oldest = id
			}
		}
		delete(b.jobs, oldest)
	}
	close(b.wake)
	b.wake = make(chan struct{})
	b.mu.Unlock()
	for _, j := range jobs {
		b.hub.tell("job", j.ID)
	}
}

func (b *board) looked(began time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.fresh = began
	close(b.look)
	b.look = make(chan struct{})
}

// caughtUp waits until the board shows the database as it stands now, but not for
// ever: it may not answer.
func (b *board) caughtUp() {
	now, limit := time.Now(), time.NewTimer(toSee)
	defer limit.Stop()
	for {
		b.mu.Lock()
		next, fresh := b.look, b.fresh
		b.mu.Unlock()
		if fresh.After(now) {
			return
		}
		select {
		case <-next:
		case <-limit.C:
			return
		}
	}
}

func (b *board) lost(err error) {
	b.mu.Lock()
	b.down, b.since = err, time.Now()
	b.mu.Unlock()
	b.hub.tell("store", "")
}

// trouble is why the database does not answer and since when; nil when it does.
func (b *board) trouble() (error, time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.down, b.since
}

func (b *board) job(id string) (target.LiveJob, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	j, ok := b.jobs[id]
	return j, ok
}

// byKey finds the job of an idempotency key.
func (b *board) byKey(key string) (target.LiveJob, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, j := range b.jobs {
		if j.Key == key {
			return j, true
		}
	}
	return target.LiveJob{}, false
}

// all lists the jobs, newest first.
func (b *board) all() []target.LiveJob {
	b.mu.Lock()
	defer b.mu.Unlock()
	list := make([]target.LiveJob, 0, len(b.jobs))
	for _, j := range b.jobs {
		list = append(list, j)
	}
	slices.SortFunc(list, func(a, c target.LiveJob) int { return cmp.Compare(c.ID, a.ID) })
	return list
}

// moved is closed at the next change of a job.
func (b *board) moved() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.wake
}
