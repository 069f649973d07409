package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/interlock-harness/interlock/service/internal/job"
	"github.com/interlock-harness/interlock/service/internal/mutant"
)

const (
	expiredLeases = `
	SELECT id, job_id, fence
	FROM   attempts
	WHERE  state = 'running'
	  AND  n > 0 -- as it always is: the condition of the index attempts_running
	  AND  lease_until < clock_timestamp()
	ORDER BY fence
	LIMIT  100`

	// A job that somebody is moving right now can wait for the next round.
	lockJobUnlessBusy = `
	SELECT 1
	FROM   jobs
	WHERE  id = @job
	FOR NO KEY UPDATE SKIP LOCKED`

	// Never failed: the worker is gone, its call may not be.
	reapAttempt = `
	WITH reaped AS (
		UPDATE attempts
		SET    state = 'unknown', reason = 'lease', since = clock_timestamp()
		WHERE  id = @attempt
		  AND  fence = @fence
		  AND  state = 'running'                  -- its worker did not settle it since we looked
		  AND  lease_until < clock_timestamp()    -- nor renewed its lease
		RETURNING id, job_id
	)
	INSERT INTO attempt_events (job_id, attempt_id, type, from_state, to_state, actor, reason, operation_id)
	SELECT job_id, id, 'attempt.moved', 'running', 'unknown', @actor, 'lease', @op
	FROM   reaped`
)

// ReapLeases marks attempts unknown whose worker stopped renewing its lease, and
// returns how many it marked. Every process calls it now and then. Each attempt
// is a transaction of its own: one that cannot be moved does not keep the others.
func (s *Store) ReapLeases(ctx context.Context) (int, error) {
	type expired struct {
		id    job.AttemptID
		job   job.ID
		fence int64
	}
	if s.mutant.Is(mutant.NeverReaped) {
		return 0, nil
	}
	var found []expired
	err := s.read(ctx, &query{sql: expiredLeases, args: pgx.NamedArgs{}, read: func(rows pgx.Rows) error {
		found = found[:0]
		for rows.Next() {
			var e expired
			if err := rows.Scan(&e.id, &e.job, &e.fence); err != nil {
				return err
			}
			found = append(found, e)
		}
		return nil
	}})
	if err != nil {
		return 0, fmt.Errorf("look for expired leases: %w", err)
	}
	reaped := 0
	var failures []error
	for _, e := range found {
		op := newOperation()
		moved := false
		err := s.transact(ctx, e.job, op, func(ctx context.Context, t *tx) error {
			lock := &query{sql: lockJobUnlessBusy, args: pgx.NamedArgs{"job": e.job}}
			if err := t.run(ctx, lock); err != nil || lock.rows == 0 {
				return err
			}
			reap := &query{sql: reapAttempt, args: pgx.NamedArgs{"attempt": e.id, "fence": e.fence, "actor": actorReaper, "op": op}}
			err := t.run(ctx, reap)
			moved = reap.rows > 0 // 0: settled or renewed between our look and our lock
			return err
		})
		if err != nil {
			failures = append(failures, fmt.Errorf("reap attempt %s: %w", e.id, err))
			continue
		}
		if moved {
			reaped++
		}
	}
	return reaped, errors.Join(failures...)
}
