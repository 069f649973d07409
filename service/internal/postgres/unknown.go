package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/interlock-harness/interlock/service/internal/job"
	"github.com/interlock-harness/interlock/service/internal/mutant"
)

const unknownAttempt = `
	WITH moved AS (
		UPDATE attempts
		SET    state = @to, reason = @reason, since = clock_timestamp()
		WHERE  id = @attempt
		  AND  fence = @fence
		  AND  state = 'running' -- an answer, a cancel or the reaper was not faster
		RETURNING id, job_id
	)
	INSERT INTO attempt_events (job_id, attempt_id, type, from_state, to_state, actor, reason, operation_id)
	SELECT job_id, id, 'attempt.moved', 'running', @to, @actor, @reason, @op
	FROM   moved`

// MarkUnknown says that the attempt in by did not end in time, or that nobody
// knows how it ended. The provider may still finish it, so it is never failed,
// and it keeps its fence: a late answer resolves it.
//
// When the job asked for a race and by.Failure.Class is job.ClassDeadline, the
// attempt is released instead: it stops blocking and stays a contender, and the
// failover policy may start another in the same transaction.
//
// It returns the state that the attempt is in now, or job.ErrAttemptTerminal
// with nothing written when it was no longer running; an attempt that is unknown
// or released already is returned as it is, without error.
func (s *Store) MarkUnknown(ctx context.Context, by job.Settlement) (job.State, error) {
	s.careless.letGo(by.Attempt)
	op := operationOf("unknown " + string(by.Attempt))
	var now job.State
	followed := false
	err := s.transact(ctx, by.Job, op, func(ctx context.Context, t *tx) error {
		h, err := t.hold(ctx, job.AnyOwner, by.Job, nil)
		if err != nil {
			return err
		}
		now = job.StateUnknown
		races := h.Intent.Race && by.Failure.Class == job.ClassDeadline
		if races {
			now = job.StateReleased
		}
		move := &query{sql: unknownAttempt, args: pgx.NamedArgs{
			"attempt": by.Attempt, "fence": by.Fence, "to": now, "actor": by.Actor, "reason": by.Reason, "op": op}}
		if err := t.run(ctx, move); err != nil {
			return err
		}
		if move.rows == 0 { // somebody was faster
			a := h.byID(by.Attempt)
			if a == nil || a.State.Terminal() {
				return job.ErrAttemptTerminal
			}
			now = a.State
			return nil
		}
		if races {
			followed, err = t.follow(ctx, h, by)
		} else if s.mutant.Is(mutant.FailoverOnUnknown) {
			followed, err = t.goOn(ctx, h, job.Failure{Class: job.ClassRefused})
		}
		return err
	})
	if err != nil {
		return "", fmt.Errorf("mark attempt %s unknown: %w", by.Attempt, err)
	}
	if followed {
		s.wake()
	}
	return now, nil
}
