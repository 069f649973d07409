package postgres

import (
	"sync"
	"time"

	"github.com/interlock-harness/interlock/service/internal/job"
)

// queueFloor keeps claims from walking again and again over the index entries of
// attempts that were claimed before. PostgreSQL removes those only when no open
// transaction can see them, so one forgotten transaction somewhere would make
// every claim slower than the last.
//
// Fences rise, so most claims start a little below the highest fence that this
// process has claimed. What lies lower (a late commit, a back-off that is over)
// is found by a full scan now and then.
type queueFloor struct {
	mu       sync.Mutex
	highest  int64
	nextFull time.Time // when anything lower is looked for again
}

const (
	// belowHighest covers submits that took a fence before, and commit after, one
	// that was claimed: far more than can be under way at once.
	belowHighest = 2000
	// fullScanEvery and fullScanShare bound how long anything lower waits, and how
	// much of the time goes into looking for it: where a scan is long, the next one
	// comes after as many times its duration.
	fullScanEvery = 200 * time.Millisecond
	fullScanShare = 9
)

// scan is the range of one claim, and when it began.
type scan struct {
	above int64
	begun time.Time
}

func (f *queueFloor) begin(now time.Time) scan {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.highest <= belowHighest || !now.Before(f.nextFull) {
		f.nextFull = now.Add(fullScanEvery)
		return scan{begun: now}
	}
	return scan{above: f.highest - belowHighest, begun: now}
}

func (f *queueFloor) end(s scan, now time.Time, claimed []job.Claimed) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if s.above == 0 {
		if later := now.Add(fullScanShare * now.Sub(s.begun)); later.After(f.nextFull) {
			f.nextFull = later
		}
	}
	for _, c := range claimed {
		f.highest = max(f.highest, c.Attempt.Fence)
	}
}
