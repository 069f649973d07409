package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/interlock-harness/interlock/service/internal/job"
)

const (
	// Each state has a partial index, so finished attempts cost nothing here.
	attemptStats = `
	SELECT state, count(*),
	       max(clock_timestamp() - CASE state WHEN 'starting' THEN greatest(since, not_before) ELSE since END)
	FROM   attempts
	WHERE  state IN ('starting', 'running', 'unknown')
	  AND  n > 0 -- as it always is: the condition of the index
	GROUP BY state`

	stuckAttempts = `
	SELECT ` + attemptColumns + `, j.owner, coalesce(j.intent ->> 'contract', '')
	FROM   attempts a JOIN jobs j ON j.id = a.job_id
	WHERE  a.state = 'unknown'
	  AND  a.n > 0 -- as it always is: the condition of the index
	  AND  a.since < clock_timestamp() - @age::interval
	  AND  (j.owner = @owner OR @owner = '*')
	ORDER BY a.since
	LIMIT  @limit`
)

// Stats counts open attempts and says how long the oldest has waited.
func (s *Store) Stats(ctx context.Context) (job.Stats, error) {
	var stats job.Stats
	err := s.read(ctx, &query{sql: attemptStats, args: pgx.NamedArgs{}, read: func(rows pgx.Rows) error {
		stats = job.Stats{Attempts: map[job.State]int64{}}
		for rows.Next() {
			var state job.State
			var n int64
			var oldest time.Duration
			if err := rows.Scan(&state, &n, &oldest); err != nil {
				return err
			}
			stats.Attempts[state] = n
			switch state {
			case job.StateUnknown:
				stats.OldestUnknown = max(0, oldest)
			case job.StateStarting:
				stats.OldestWaiting = max(0, oldest)
			}
		}
		return nil
	}})
	if err != nil {
		return job.Stats{}, fmt.Errorf("count attempts: %w", err)
	}
	return stats, nil
}

// Stuck lists attempts of owner that have been unknown for longer than age, the
// oldest first: somebody must ask the provider, or resolve, release or cancel.
func (s *Store) Stuck(ctx context.Context, owner job.Owner, age time.Duration, limit int) ([]job.Stuck, error) {
	var found []job.Stuck
	args := pgx.NamedArgs{"owner": owner, "age": age, "limit": page(limit)}
	err := s.read(ctx, &query{sql: stuckAttempts, args: args, read: func(rows pgx.Rows) error {
		found = found[:0]
		for rows.Next() {
			var st job.Stuck
			if err := rows.Scan(append(attemptFields(&st.Attempt), &st.Owner, &st.Contract)...); err != nil {
				return err
			}
			found = append(found, st)
		}
		return nil
	}})
	if err != nil {
		return nil, fmt.Errorf("list attempts that stay unknown: %w", err)
	}
	return found, nil
}

const schemaVersion = `
	SELECT coalesce(max(version_id), 0)
	FROM   goose_db_version
	WHERE  is_applied`

// Ready reports whether the database answers and has the schema of this build or
// a newer one.
func (s *Store) Ready(ctx context.Context) error {
	files, err := migrations.ReadDir("migrations")
	if err != nil {
		return err
	}
	var version int64
	if err := s.read(ctx, &query{sql: schemaVersion, args: pgx.NamedArgs{}, read: one(&version)}); err != nil {
		return fmt.Errorf("schema version: %w", err)
	}
	if version < int64(len(files)) {
		return fmt.Errorf("the schema is at version %d of %d: run `interlock migrate`", version, len(files))
	}
	return nil
}
