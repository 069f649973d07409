package target

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// lookEvery is how often a wait looks at pg_stat_activity.
const lookEvery = 2 * time.Millisecond

// Blocked waits until n backends of the database wait for a lock.
func (d *Database) Blocked(ctx context.Context, n int) error {
	return d.until(ctx, fmt.Sprintf("%d backends wait for a lock", n), func(ctx context.Context, conn *pgx.Conn) (bool, error) {
		var waiting int
		err := conn.QueryRow(ctx, `
			SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`).Scan(&waiting)
		return waiting >= n, err
	})
}

// Writers waits until a transaction of the database has written something and
// waits for its client to go on, and returns the process ids of such backends:
// what they wrote keeps others waiting from now on.
func (d *Database) Writers(ctx context.Context) (pids []int, err error) {
	err = d.until(ctx, "a transaction has written and waits for its client", func(ctx context.Context, conn *pgx.Conn) (bool, error) {
		err := conn.QueryRow(ctx, `
			SELECT coalesce(array_agg(pid), '{}') FROM pg_stat_activity
			WHERE  datname = current_database() AND backend_xid IS NOT NULL AND wait_event = 'ClientRead'
			  AND  application_name <> 'interlock-harness'`).Scan(&pids)
		return len(pids) > 0, err
	})
	return pids, err
}

// Settled waits until every transaction of the database that is open now has
// ended.
func (d *Database) Settled(ctx context.Context) error {
	var since time.Time
	return d.until(ctx, "the open transactions have ended", func(ctx context.Context, conn *pgx.Conn) (bool, error) {
		if since.IsZero() {
			if err := conn.QueryRow(ctx, "SELECT pg_catalog.clock_timestamp()").Scan(&since); err != nil {
				return false, err
			}
		}
		var open int
		err := conn.QueryRow(ctx, `
			SELECT count(*) FROM pg_stat_activity
			WHERE  datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid() AND xact_start < $1`, since).Scan(&open)
		return open == 0, err
	})
}

// until looks on one connection until what holds.
func (d *Database) until(ctx context.Context, what string, holds func(context.Context, *pgx.Conn) (bool, error)) error {
	return d.With(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		tick := time.NewTicker(lookEvery)
		defer tick.Stop()
		for {
			ok, err := holds(ctx, conn)
			if ok && err == nil {
				return nil
			}
			select {
			case <-ctx.Done():
				return fmt.Errorf("waited in vain: %s: %w", what, ctx.Err())
			case <-tick.C:
			}
		}
	})
}

// Denied is the error of a statement that a rule of the database refused.
type Denied struct{ Constraint string }

func (d *Denied) Error() string { return "refused by " + d.Constraint }

// Try runs a statement in a transaction that is undone. It is *Denied when a
// constraint or a trigger that names one refused it.
func (d *Database) Try(ctx context.Context, statement string, args ...any) error {
	return d.With(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		tx, err := conn.Begin(ctx)
		if err != nil {
			return err
		}
		defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
		_, err = tx.Exec(ctx, statement, args...)
		if refused, ok := errors.AsType[*pgconn.PgError](err); ok && refused.ConstraintName != "" {
			return &Denied{refused.ConstraintName}
		}
		return err
	})
}
