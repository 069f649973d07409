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
	fullScan time.Time
}

const (
	// belowHighest covers submits that took a fence before, and commit after, one
	// that was claimed: far more than can be under way at once.
	belowHighest = 2000
	// fullScanEvery bounds how long anything lower waits.
	fullScanEvery = 200 * time.Millisecond
)

// scan is the range of one claim.
type scan struct {
	above int64
}

func (f *queueFloor) begin() scan {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.highest <= belowHighest || time.Since(f.fullScan) >= fullScanEvery {
		f.fullScan = time.Now()
		return scan{}
	}
	return scan{above: f.highest - belowHighest}
}

func (f *queueFloor) end(claimed []job.Claimed) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, c := range claimed {
		f.highest = max(f.highest, c.Attempt.Fence)
	}
}
