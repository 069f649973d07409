package stage

import (
	"context"
	"fmt"
	"maps"
	"time"

	"github.com/interlock-harness/interlock/harness/target"
)

// Rows reads the service's database.
func (w *World) Rows() *target.Database { return target.OpenDatabase(w.Service.PGURL(), w.Adapter()) }

// Audit writes all rows of the world's owners into the history (level L2).
func (w *World) Audit(ctx context.Context) error {
	return w.Rows().Without(w.old()).Snapshot(ctx, w.Recorder, w.ownerNames()...)
}

// old are the jobs that the world's owners had before it began: those of an
// earlier run against a foreign target.
func (w *World) old() map[string]bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return maps.Clone(w.earlier)
}

// see remembers which jobs an owner has whom the world is about to use.
func (w *World) see(owner string) error {
	if f := w.stage.o.Foreign; f == nil || f.PGURL == "" {
		return nil // the owners of a stage are new
	}
	ctx, cancel := context.WithTimeout(context.Background(), toStart)
	defer cancel()
	ids, err := w.Rows().JobsOf(ctx, owner)
	for _, id := range ids {
		w.earlier[id] = true
	}
	return err
}

func (w *World) ownerNames() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var names []string
	for _, c := range w.owners {
		names = append(names, c.Owner)
	}
	return names
}

// Quiet waits until no attempt of the world will move by itself any more:
// none is starting or running.
func (w *World) Quiet(ctx context.Context) error {
	watch, owners := w.Rows().Reader(), w.ownerNames()
	defer watch.Close(ctx)
	return Until(ctx, "no attempt is starting or running", func(ctx context.Context) (bool, error) {
		n, err := watch.Count(ctx, `
			SELECT count(*) FROM attempts a JOIN jobs j ON j.id = a.job_id
			WHERE  j.owner = ANY ($1) AND a.state IN ('starting', 'running')`, owners)
		return n == 0, err
	})
}

// Until looks again and again until what holds. Its error names what was
// waited for.
func Until(ctx context.Context, what string, holds func(context.Context) (bool, error)) error {
	defer Waits(what)()
	tick := time.NewTicker(between)
	defer tick.Stop()
	var last error
	for {
		ok, err := holds(ctx)
		if ok && err == nil {
			return nil
		}
		if err != nil && ctx.Err() == nil {
			last = err
		}
		select {
		case <-ctx.Done():
			if last != nil {
				return fmt.Errorf("waited in vain: %s: %w (last look: %w)", what, ctx.Err(), last)
			}
			return fmt.Errorf("waited in vain: %s: %w", what, ctx.Err())
		case <-tick.C:
		}
	}
}

// Status waits until the job has one of the statuses, and returns it as read
// then.
func (w *World) Status(ctx context.Context, c *target.Client, job string, statuses ...string) (target.Job, error) {
	var seen target.Job
	err := Until(ctx, fmt.Sprintf("job %s is %v", job, statuses), func(ctx context.Context) (bool, error) {
		j, err := c.Job(ctx, job)
		if err != nil {
			return false, err
		}
		seen = j
		for _, s := range statuses {
			if j.Status == s {
				return true, nil
			}
		}
		return false, nil
	})
	if err != nil && seen.ID != "" {
		err = fmt.Errorf("%w; it is %s", err, seen.Status)
	}
	return seen, err
}

// AttemptState waits until attempt n of a job has one of the states.
func (w *World) AttemptState(ctx context.Context, c *target.Client, job string, n int, states ...string) (target.Attempt, error) {
	var seen target.Attempt
	err := Until(ctx, fmt.Sprintf("attempt %d of job %s is %v", n, job, states), func(ctx context.Context) (bool, error) {
		list, err := c.Attempts(ctx, job)
		if err != nil || len(list) < n {
			return false, err
		}
		seen = list[n-1]
		for _, s := range states {
			if seen.State == s {
				return true, nil
			}
		}
		return false, nil
	})
	if err != nil && seen.ID != "" {
		err = fmt.Errorf("%w; it is %s", err, seen.State)
	}
	return seen, err
}
