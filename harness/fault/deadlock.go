package fault

import (
	"context"
	"fmt"
	"time"

	"github.com/interlock-harness/interlock/harness/history"
)

// Deadlocked makes the service the victim of a deadlock: it holds an attempt's
// row, waits until a transaction of the service holds the job's row and wants
// the attempt's, and then wants the job's row itself.
type Deadlocked struct {
	*Lock
	job string
}

// Deadlock holds the attempt's row, against the order in which the service
// locks. Close the circle when somebody waits.
func Deadlock(ctx context.Context, rec *history.Recorder, url, job, attempt string) (*Deadlocked, error) {
	l, err := lock(ctx, rec, url, "deadlock", "the rows of job "+job+" are locked in the other order",
		"SELECT FROM attempts WHERE id = $1 FOR UPDATE", attempt)
	if err != nil {
		return nil, err
	}
	// Ours is not to be the one that finds the deadlock and is ended for it.
	if _, err := l.held.Exec(ctx, "SET LOCAL deadlock_timeout = '1h'"); err != nil {
		_ = l.Release(ctx)
		return nil, fmt.Errorf("deadlock: only a superuser can choose the victim: %w", err)
	}
	return &Deadlocked{Lock: l, job: job}, nil
}

// Close waits until a transaction of the service waits for the attempt, wants
// the job's row and returns when PostgreSQL has ended the other one. The fault
// fires when we got the row.
func (f *Deadlocked) Close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, toControl)
	defer cancel()
	tick := time.NewTicker(between)
	defer tick.Stop()
	for {
		waiters, err := f.Waiters(ctx)
		if err == nil && len(waiters) > 0 {
			break
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("deadlock: nobody waits for the attempt: %w", ctx.Err())
		case <-tick.C:
		}
	}
	if _, err := f.held.Exec(ctx, "SELECT FROM jobs WHERE id = $1 FOR UPDATE", f.job); err != nil {
		f.gone = ctx.Err() != nil
		return fmt.Errorf("deadlock: we are the victim: %w", err)
	}
	f.fire("PostgreSQL ended the other transaction of the circle and gave us job " + f.job)
	return nil
}
