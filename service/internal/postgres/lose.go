package postgres

import (
	"context"
	"crypto/sha256"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/interlock-harness/interlock/service/internal/job"
	"github.com/interlock-harness/interlock/service/internal/mutant"
)

const (
	loseAttempt = `
	WITH lost AS (
		UPDATE attempts
		SET    state = 'lost', reason = @reason, since = clock_timestamp(), ended_at = clock_timestamp()
		WHERE  id = @attempt
		  AND  fence = @fence
		  AND  state IN ('running', 'unknown', 'released') -- one that was cancelled, failed or resolved stays what it is
		  AND  EXISTS (SELECT FROM jobs j                  -- its job has ended; the job's lock is held
		               WHERE j.id = @job AND (j.completed_by IS NOT NULL OR j.cancelled_at IS NOT NULL))
		RETURNING id, job_id
	)
	INSERT INTO attempt_events (job_id, attempt_id, type, from_state, to_state, actor, reason, operation_id)
	SELECT lost.job_id, lost.id, 'attempt.moved', before.state, 'lost', @actor, @reason, @op
	FROM   lost JOIN attempts before ON before.id = lost.id`

	recordRace = `
	INSERT INTO races (job_id, attempt_id, winner_id, reason, payload_sha256, payload_bytes, started_at, operation_id)
	SELECT a.job_id, a.id, j.completed_by, @reason, @sum, @bytes, a.started_at, @op
	FROM   attempts a JOIN jobs j ON j.id = a.job_id
	WHERE  a.id = @attempt
	ON CONFLICT ON CONSTRAINT one_race_per_attempt DO NOTHING -- told before: this is a repetition`
)

// lose records that by's result came too late: the attempt moves to lost when it
// still contended, and one race row tells who won. It returns job.ErrLate, or nil
// when the win turns out to be ours: the compare-and-swap op was committed and
// only its answer was lost.
func (s *Store) lose(ctx context.Context, by job.Settlement, op operation, result []byte) error {
	won := false
	err := s.transact(ctx, by.Job, newOperation(), func(ctx context.Context, t *tx) error {
		ours := &query{sql: findOperation, args: pgx.NamedArgs{"job": by.Job, "op": op}}
		h, err := t.hold(ctx, job.AnyOwner, by.Job, nil, ours)
		if err != nil {
			return err
		}
		if won = ours.rows > 0 && h.CompletedBy == by.Attempt && !s.mutant.Is(mutant.LostCommitIsRepeated); won {
			return nil
		}
		a := h.byID(by.Attempt)
		if a == nil {
			return job.ErrNotFound
		}
		if !h.finished() && a.State.Contends() {
			// neither the job nor the attempt ended: the settlement itself is wrong
			return fmt.Errorf("attempt %s settles with fence %d and version %d, which are not its own", by.Attempt, by.Fence, by.Version)
		}
		return t.tellLate(ctx, h, a, by.Actor, result)
	})
	switch {
	case err != nil:
		return fmt.Errorf("record the late result of attempt %s: %w", by.Attempt, err)
	case won:
		return nil
	}
	return job.ErrLate
}

// tellLate moves a contender of a finished job to lost and records the race. The
// job's lock is held.
func (t *tx) tellLate(ctx context.Context, h *held, a *job.Attempt, actor string, payload []byte) error {
	sum := sha256.Sum256(payload)
	args := pgx.NamedArgs{
		"job": h.ID, "attempt": a.ID, "fence": a.Fence, "actor": actor, "reason": lateReason(h, a),
		"sum": sum[:], "bytes": int64(len(payload)), "op": t.op,
	}
	return t.run(ctx, &query{sql: loseAttempt, args: args}, &query{sql: recordRace, args: args})
}

// lateReason says in one word why a result was dropped.
func lateReason(h *held, a *job.Attempt) string {
	switch {
	case a.State == job.StateCancelled:
		return "attempt-cancelled"
	case a.State == job.StateFailed:
		return "attempt-failed"
	case a.State == job.StateSucceeded:
		return "attempt-resolved"
	case h.CancelledAt != nil:
		return "job-cancelled"
	}
	return "late"
}
