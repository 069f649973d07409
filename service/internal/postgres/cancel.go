package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/interlock-harness/interlock/service/internal/job"
)

const cancelJob = `
	WITH cancelled AS (
		UPDATE jobs
		SET    cancelled_at = clock_timestamp(), version = version + 1 -- every contender's compare-and-swap now touches 0 rows
		WHERE  id = @job
		  AND  completed_by IS NULL -- a finished job stays finished
		  AND  cancelled_at IS NULL
		RETURNING id
	)
	INSERT INTO attempt_events (job_id, type, actor, reason, operation_id)
	SELECT id, 'job.cancelled', @actor, @reason, @op
	FROM   cancelled`

// CancelJob ends a job without a result. Attempts that were not begun are
// cancelled with it; those that run go on and end as lost. It is job.ErrTerminal
// when the job is finished, job.ErrNotFound and *job.VersionError as elsewhere.
func (s *Store) CancelJob(ctx context.Context, m job.Move) (job.Job, error) {
	var after []stored
	op := newOperation()
	err := s.transact(ctx, m.Job, op, func(ctx context.Context, t *tx) error {
		if _, err := t.hold(ctx, m.Owner, m.Job, m.Match); err != nil {
			return err
		}
		args := pgx.NamedArgs{"job": m.Job, "owner": m.Owner, "actor": m.Actor, "reason": m.Reason, "why": "job cancelled", "op": op}
		cancel := &query{sql: cancelJob, args: args}
		err := t.run(ctx, cancel,
			&query{sql: cancelNotBegun, args: args},
			&query{sql: jobByID, args: args, read: readJobs(&after)})
		if err != nil {
			return err
		}
		if cancel.rows == 0 { // it has its outcome
			return job.ErrTerminal
		}
		return nil
	})
	if err != nil {
		return job.Job{}, fmt.Errorf("cancel job %s: %w", m.Job, err)
	}
	return after[0].Job, nil
}

const cancelAttempt = `
	WITH cancelled AS (
		UPDATE attempts
		SET    state = 'cancelled', reason = @reason, since = clock_timestamp(), ended_at = clock_timestamp()
		WHERE  id = @attempt
		  AND  state IN ('starting', 'running', 'unknown', 'released') -- what has ended stays as it ended
		RETURNING id, job_id
	)
	INSERT INTO attempt_events (job_id, attempt_id, type, from_state, to_state, actor, reason, operation_id)
	SELECT cancelled.job_id, cancelled.id, 'attempt.moved', before.state, 'cancelled', @actor, @reason, @op
	FROM   cancelled JOIN attempts before ON before.id = cancelled.id -- as it was when this statement began`

// CancelAttempt fences attempt m.N for ever: it no longer blocks and can never
// win. Nothing follows by itself. It is job.ErrAttemptTerminal when it has ended.
func (s *Store) CancelAttempt(ctx context.Context, m job.Move) (job.Attempt, error) {
	return s.moveAttempt(ctx, m, cancelAttempt, job.ErrAttemptTerminal)
}

// moveAttempt runs one guarded move of attempt m.N under the job's lock. refused
// is what zero rows mean.
func (s *Store) moveAttempt(ctx context.Context, m job.Move, sql string, refused error) (job.Attempt, error) {
	var after []job.Attempt
	op := newOperation()
	err := s.transact(ctx, m.Job, op, func(ctx context.Context, t *tx) error {
		h, err := t.hold(ctx, m.Owner, m.Job, m.Match)
		if err != nil {
			return err
		}
		a := h.attempt(m.N)
		if a == nil {
			return job.ErrNotFound
		}
		move := &query{sql: sql, args: pgx.NamedArgs{"attempt": a.ID, "actor": m.Actor, "reason": m.Reason, "op": op}}
		list := &query{sql: listAttempts, args: pgx.NamedArgs{"job": m.Job, "owner": m.Owner}, read: readAttempts(&after)}
		if err := t.run(ctx, move, list); err != nil {
			return err
		}
		if move.rows == 0 {
			return refused
		}
		return nil
	})
	if err != nil {
		return job.Attempt{}, fmt.Errorf("move attempt %d of job %s: %w", m.N, m.Job, err)
	}
	return *(&held{attempts: after}).attempt(m.N), nil
}
