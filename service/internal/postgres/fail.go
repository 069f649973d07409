package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/interlock-harness/interlock/service/internal/job"
)

const failAttempt = `
	WITH failed AS (
		UPDATE attempts
		SET    state = 'failed', reason = @reason, since = clock_timestamp(), ended_at = clock_timestamp(),
		       retry_at = clock_timestamp() + @retry_after::interval
		WHERE  id = @attempt
		  AND  fence = @fence                                          -- ours, and no other's
		  AND  state IN ('starting', 'running', 'unknown', 'released') -- not settled yet
		RETURNING id, job_id
	)
	INSERT INTO attempt_events (job_id, attempt_id, type, from_state, to_state, actor, reason, operation_id)
	SELECT failed.job_id, failed.id, 'attempt.moved', before.state, 'failed', @actor, @reason, @op
	FROM   failed JOIN attempts before ON before.id = failed.id -- as it was when this statement began`

// Fail records a definite failure of the attempt in by, and starts in the same
// transaction what the failover policy lets follow. A definite failure is one
// where no work goes on at the provider: a timeout never is.
//
// It returns job.ErrAttemptTerminal, and writes nothing, when the attempt was
// settled before; a late failure is no race.
func (s *Store) Fail(ctx context.Context, by job.Settlement) error {
	s.careless.letGo(by.Attempt)
	op := operationOf("fail " + string(by.Attempt))
	followed := false
	err := s.transact(ctx, by.Job, op, func(ctx context.Context, t *tx) error {
		h, err := t.hold(ctx, job.AnyOwner, by.Job, nil)
		if err != nil {
			return err
		}
		args := pgx.NamedArgs{"attempt": by.Attempt, "fence": by.Fence, "actor": by.Actor, "reason": by.Reason,
			"retry_after": nil, "op": op}
		if by.Failure.RetryAfter > 0 {
			args["retry_after"] = by.Failure.RetryAfter
		}
		fail := &query{sql: failAttempt, args: args}
		queries := []*query{fail}
		if a := h.byID(by.Attempt); a != nil && by.Denied != nil {
			deny, err := t.denial(h.ID, by.Actor, job.Denial{Provider: a.Provider, Reasons: by.Denied})
			if err != nil {
				return err
			}
			queries = append(queries, deny)
		}
		if err := t.run(ctx, queries...); err != nil {
			return err
		}
		if fail.rows == 0 {
			return job.ErrAttemptTerminal
		}
		followed, err = t.follow(ctx, h, by)
		return err
	})
	if err != nil {
		return fmt.Errorf("fail attempt %s: %w", by.Attempt, err)
	}
	if followed {
		s.wake()
	}
	return nil
}

// follow starts the attempt that the failover policy wants after by, if any, and
// records the refusals of the gate on the way. The job's lock is held and by's
// own move is made. A finished job wants nothing more, and while another attempt
// is open nothing may follow.
func (t *tx) follow(ctx context.Context, h *held, by job.Settlement) (started bool, err error) {
	a := h.byID(by.Attempt)
	ended := time.Now()
	a.Reason, a.EndedAt = by.Reason, &ended
	if by.Failure.RetryAfter > 0 {
		retry := ended.Add(by.Failure.RetryAfter)
		a.RetryAt = &retry
	}
	if by.Failure.Class == job.ClassDeadline {
		a.State, a.EndedAt = job.StateReleased, nil
	} else {
		a.State = job.StateFailed
	}
	if h.finished() || h.open() != nil {
		return false, nil
	}
	return t.goOn(ctx, h, by.Failure)
}

// goOn asks the policy and does what it says.
func (t *tx) goOn(ctx context.Context, h *held, f job.Failure) (started bool, err error) {
	d := t.store.failover.Next(h.Job, h.attempts, f)
	var denials []*query
	for _, refused := range d.Denied {
		q, err := t.denial(h.ID, actorFailover, refused)
		if err != nil {
			return false, err
		}
		denials = append(denials, q)
	}
	if len(denials) > 0 {
		if err := t.run(ctx, denials...); err != nil {
			return false, err
		}
	}
	if d.Provider == "" {
		return false, nil
	}
	_, err = t.start(ctx, h, attemptToStart{Provider: d.Provider, Wait: d.Wait, Actor: actorFailover, Reason: d.Reason})
	return err == nil, err
}

// Actors of events that nobody asked for by name.
const (
	actorFailover = "failover"
	actorReaper   = "reaper"
	actorDrift    = "drift"
)
