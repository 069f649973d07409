package bench

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// Jobs that have their result; and those that are not done yet, negative. The
// second is looked at again and again beside the work, so it has indexes.
const (
	finished   = `SELECT count(*) FROM jobs WHERE completed_by IS NOT NULL`
	unfinished = `SELECT -(SELECT count(*) FROM attempts WHERE state = 'starting' AND worker IS NULL)
	                     -(SELECT count(*) FROM attempts WHERE state = 'running' AND lease_until IS NOT NULL)`
)

// lives returns whole lives a second: submits for a while, and the time until the
// last of those jobs has its result.
func (r *rig) lives(ctx context.Context, s *service, prefix string, d time.Duration) (float64, error) {
	begun := time.Now()
	var took time.Duration
	n, err := r.untilFinished(ctx, func() (int, error) {
		_, all, err := r.submitsFor(ctx, s, prefix, d)
		return len(all), err
	}, func() { took = time.Since(begun) })
	return float64(n) / took.Seconds(), err
}

// untilFinished has submit submit jobs, calls done when none is left to do, and
// makes sure that each has its result.
func (r *rig) untilFinished(ctx context.Context, submit func() (int, error), done func()) (n int, err error) {
	before, err := r.number(ctx, finished)
	if err != nil {
		return 0, err
	}
	if n, err = submit(); err != nil {
		return n, err
	}
	if err := r.until(ctx, "jobs that end", 0, unfinished); err != nil {
		return n, err
	}
	done()
	after, err := r.number(ctx, finished)
	if err == nil && after != before+float64(n) {
		err = fmt.Errorf("%.0f of %d jobs have a result", after-before, n)
	}
	return n, err
}

func fullLives(ctx context.Context, r *rig) ([]Row, error) {
	r.o.Note("whole lives, by turns with pgbench")
	s, err := r.working(ctx)
	if err != nil {
		return nil, err
	}
	defer s.stop()
	script, err := r.lifeScript()
	if err != nil {
		return nil, err
	}
	turn := 0
	both, err := byTurns(func() (float64, error) {
		turn++
		return r.lives(ctx, s, fmt.Sprint("life-", turn, "-"), r.o.slice())
	}, func() (float64, error) { return r.pgbench(ctx, "life", script, r.o.slice()) })
	if err != nil {
		return nil, err
	}
	row := Row{Measure: "whole lives", Ours: both.ours, Theirs: both.theirs, Against: "pgbench, the same commits", Unit: "/s", Ratio: both.ratio, Spread: both.spread,
		Detail: "submit, claim, call of a provider that answers at once, compare-and-swap"}
	return []Row{row.atLeast(0.5)}, nil
}

// overhead is what the service adds to a call: from the claim to the stored
// result, at a load that queues nowhere.
func overhead(ctx context.Context, r *rig) ([]Row, error) {
	r.o.Note("from the claim to the stored result")
	s, err := r.working(ctx)
	if err != nil {
		return nil, err
	}
	defer s.stop()
	var since time.Time
	if err := r.conn.QueryRow(ctx, "SELECT clock_timestamp()").Scan(&since); err != nil {
		return nil, err
	}
	n, err := r.untilFinished(ctx, func() (int, error) {
		slice, cancel := context.WithTimeout(ctx, r.o.slice())
		defer cancel()
		body := intent(atOnce, "")
		all, err := r.load(slice, s, 1, 201, func(n int64) (string, string) { return fmt.Sprint("overhead-", n), body })
		return len(all), err
	}, func() {})
	if err != nil {
		return nil, err
	}
	median, err := r.number(ctx, `
		SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY extract(epoch FROM stored.at - claimed.at) * 1000)
		FROM   attempt_events claimed JOIN attempt_events stored ON stored.attempt_id = claimed.attempt_id
		WHERE  claimed.to_state = 'running' AND stored.to_state = 'succeeded' AND claimed.at >= $1`, since)
	if err != nil {
		return nil, err
	}
	return []Row{Row{Measure: "claim to stored", Ours: median, Unit: "ms", Ratio: median,
		Detail: fmt.Sprintf("median of %d jobs", n)}.atMost(10)}, nil
}

// heldTransaction measures whole lives while somebody keeps a transaction open.
func heldTransaction(ctx context.Context, r *rig) ([]Row, error) {
	r.o.Note("whole lives beside a transaction that is held open")
	s, err := r.working(ctx)
	if err != nil {
		return nil, err
	}
	defer s.stop()
	other, err := pgx.Connect(ctx, r.url)
	if err != nil {
		return nil, err
	}
	defer func() { _ = other.Close(context.WithoutCancel(ctx)) }() // and with it the transaction
	turn, hold := 0, max(r.o.Held, r.o.slice())
	measure := func(statements ...string) (float64, error) {
		for _, statement := range statements {
			if _, err := other.Exec(ctx, statement); err != nil {
				return 0, err
			}
		}
		turn++
		return r.lives(ctx, s, fmt.Sprint("held-", turn, "-"), hold)
	}
	both, err := byTurns(func() (float64, error) {
		// a transaction id of its own, and a snapshot: what it can see stays
		return measure("BEGIN ISOLATION LEVEL REPEATABLE READ", "SELECT pg_current_xact_id(), count(*) FROM jobs")
	}, func() (float64, error) { return measure("ROLLBACK") })
	if err != nil {
		return nil, err
	}
	row := Row{Measure: "lives beside an open transaction", Ours: both.ours, Theirs: both.theirs, Against: "without it", Unit: "/s", Ratio: both.ratio, Spread: both.spread,
		Detail: fmt.Sprintf("held for about %s at a time", hold.Round(100*time.Millisecond))}
	return []Row{row.atLeast(0.8)}, nil
}
