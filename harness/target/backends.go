package target

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// lookEvery is how often a wait looks at pg_stat_activity.
const lookEvery = 2 * time.Millisecond

// Blockers waits until n backends of the database wait for a lock, and returns
// the process ids of those that keep them waiting and wait for nobody.
func (d *Database) Blockers(ctx context.Context, n int) (blockers []int, err error) {
	err = d.until(ctx, fmt.Sprintf("%d backends wait for a lock", n), func(ctx context.Context, conn *pgx.Conn) (bool, error) {
		var waiting int
		err := conn.QueryRow(ctx, `
			WITH waiting AS (
				SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()
			)
			SELECT (SELECT count(*) FROM waiting),
			       (SELECT coalesce(array_agg(DISTINCT b), '{}') FROM waiting w, unnest(pg_blocking_pids(w.pid)) b
			        WHERE b NOT IN (SELECT pid FROM waiting))`).Scan(&waiting, &blockers)
		return waiting >= n && len(blockers) > 0, err
	})
	return blockers, err
}

// Written waits until a transaction of the database has written something and
// waits for its client to go on: what it wrote keeps others waiting from now on.
func (d *Database) Written(ctx context.Context) error {
	return d.until(ctx, "a transaction has written and waits for its client", func(ctx context.Context, conn *pgx.Conn) (bool, error) {
		var n int
		err := conn.QueryRow(ctx, `
			SELECT count(*) FROM pg_stat_activity
			WHERE  datname = current_database() AND backend_xid IS NOT NULL AND wait_event = 'ClientRead'`).Scan(&n)
		return n > 0, err
	})
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
