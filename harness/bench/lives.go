package bench

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
)

const finished = `SELECT count(*) FROM jobs WHERE completed_by IS NOT NULL`

// worker are the flags of a process that also works, with room for the clients.
func (r *rig) worker() []string {
	return []string{"--role", "api,worker", "--pool-size", "48", "--concurrency", strconv.Itoa(2 * r.o.Clients)}
}

// lives returns whole lives a second: submits for a slice, and the time until the
// last of those jobs has its result.
func (r *rig) lives(ctx context.Context, s *service, prefix string) (float64, error) {
	before, err := r.number(ctx, finished)
	if err != nil {
		return 0, err
	}
	begun := time.Now()
	_, all, err := r.submits(ctx, s, prefix, atOnce)
	if err != nil {
		return 0, err
	}
	if err := r.until(ctx, "jobs that end", before+float64(len(all)), finished); err != nil {
		return 0, err
	}
	return float64(len(all)) / time.Since(begun).Seconds(), nil
}

func fullLives(ctx context.Context, r *rig) ([]Row, error) {
	r.o.Note("whole lives, by turns with pgbench")
	if err := r.forget(ctx); err != nil {
		return nil, err
	}
	s, err := r.serve(ctx, r.worker()...)
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
		return r.lives(ctx, s, fmt.Sprint("life-", turn, "-"))
	}, func() (float64, error) { return r.pgbench(ctx, "life", script, r.o.slice()) })
	if err != nil {
		return nil, err
	}
	row := Row{Measure: "whole lives", Ours: both.ours, Theirs: both.theirs, Against: "pgbench, the same commits", Unit: "/s", Ratio: both.ratio,
		Detail: "submit, claim, call of a provider that answers at once, compare-and-swap"}
	return []Row{row.atLeast(0.5)}, nil
}

// forget takes attempts that nobody works on out of the queue: other measures
// leave them.
func (r *rig) forget(ctx context.Context) error {
	_, err := r.conn.Exec(ctx, `UPDATE attempts SET state = 'cancelled', reason = 'bench', ended_at = now() WHERE state = 'starting'`)
	return err
}

// overhead is what the service adds to a call: from the claim to the stored
// result, at a load that queues nowhere.
func overhead(ctx context.Context, r *rig) ([]Row, error) {
	r.o.Note("from the claim to the stored result")
	if err := r.forget(ctx); err != nil {
		return nil, err
	}
	s, err := r.serve(ctx, r.worker()...)
	if err != nil {
		return nil, err
	}
	defer s.stop()
	slice, cancel := context.WithTimeout(ctx, r.o.slice())
	defer cancel()
	before, err := r.number(ctx, finished)
	if err != nil {
		return nil, err
	}
	var since time.Time
	if err := r.conn.QueryRow(ctx, "SELECT clock_timestamp()").Scan(&since); err != nil {
		return nil, err
	}
	body := intent(atOnce, "")
	all, err := r.load(slice, s, 1, 201, func(n int64) (string, string) { return fmt.Sprint("overhead-", n), body })
	if err != nil {
		return nil, err
	}
	if err := r.until(ctx, "jobs that end", before+float64(len(all)), finished); err != nil {
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
		Detail: fmt.Sprintf("median of %d jobs", len(all))}.atMost(10)}, nil
}

// heldTransaction measures whole lives while somebody keeps a transaction open.
func heldTransaction(ctx context.Context, r *rig) ([]Row, error) {
	r.o.Note("whole lives beside a transaction that is held open")
	if err := r.forget(ctx); err != nil {
		return nil, err
	}
	s, err := r.serve(ctx, r.worker()...)
	if err != nil {
		return nil, err
	}
	defer s.stop()
	other, err := pgx.Connect(ctx, r.url)
	if err != nil {
		return nil, err
	}
	defer func() { _ = other.Close(context.WithoutCancel(ctx)) }() // and with it the transaction
	turn := 0
	measure := func(statements ...string) (float64, error) {
		for _, statement := range statements {
			if _, err := other.Exec(ctx, statement); err != nil {
				return 0, err
			}
		}
		turn++
		return r.lives(ctx, s, fmt.Sprint("held-", turn, "-"))
	}
	both, err := byTurns(func() (float64, error) {
		// a transaction id of its own, and a snapshot: what it can see stays
		return measure("BEGIN ISOLATION LEVEL REPEATABLE READ", "SELECT pg_current_xact_id(), count(*) FROM jobs")
	}, func() (float64, error) { return measure("ROLLBACK") })
	if err != nil {
		return nil, err
	}
	row := Row{Measure: "lives beside an open transaction", Ours: both.ours, Theirs: both.theirs, Against: "without it", Unit: "/s", Ratio: both.ratio,
		Detail: fmt.Sprintf("held for about %s at a time", r.o.slice().Round(100*time.Millisecond))}
	return []Row{row.atLeast(0.8)}, nil
}
