package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/interlock-harness/interlock/service/internal/job"
	"github.com/interlock-harness/interlock/service/internal/mutant"
)

// A resolution by evidence moves unknown and released attempts only: one that
// runs is still being listened to.
const resolveAttempt = `
	WITH resolved AS (
		UPDATE attempts
		SET    state = @to, reason = @reason, since = clock_timestamp(), ended_at = clock_timestamp()
		WHERE  id = @attempt
		  AND  state IN ('unknown', 'released')
		RETURNING id, job_id
	)
	INSERT INTO attempt_events (job_id, attempt_id, type, from_state, to_state, actor, reason, detail, operation_id)
	SELECT resolved.job_id, resolved.id, 'attempt.moved', before.state, @to, @actor, @reason, @detail::json, @op::uuid
	FROM   resolved JOIN attempts before ON before.id = resolved.id -- as it was when this statement began
	UNION ALL
	SELECT resolved.job_id, resolved.id, 'job.succeeded', NULL, NULL, @actor, @reason, NULL, @op::uuid
	FROM   resolved
	WHERE  @to = 'succeeded'`

// evidence is the detail of the event of a resolution.
type evidence struct {
	Evidence string `json:"evidence"`
	Ref      string `json:"provider_ref,omitempty"`
	Status   string `json:"provider_status,omitempty"`
}

// ResolveAttempt says with evidence how attempt r.N ended, and returns it as it
// then stands. A success wins the job by the same compare-and-swap as a worker's;
// after the job has ended it gives an attempt that is lost, and a race row. A
// failure may be followed by what the failover policy allows.
//
// It is job.ErrNotUnknown unless the attempt is unknown or released. r.Result
// must have been judged by the contract.
func (s *Store) ResolveAttempt(ctx context.Context, r job.Resolution) (job.Attempt, error) {
	op := newOperation()
	var after []job.Attempt
	followed := false
	detail, err := encode(evidence{r.Evidence, r.Ref, r.Status})
	if err != nil {
		return job.Attempt{}, err
	}
	err = s.transact(ctx, r.Job, op, func(ctx context.Context, t *tx) error {
		h, err := t.hold(ctx, r.Owner, r.Job, r.Match)
		if err != nil {
			return err
		}
		a := h.attempt(s.meant(h, r.N))
		if a == nil {
			return job.ErrNotFound
		}
		switch {
		case a.State != job.StateUnknown && a.State != job.StateReleased && !s.mutant.Is(mutant.ResolveAnyState):
			return job.ErrNotUnknown
		case r.Outcome == job.OutcomeSucceeded && h.finished():
			err = t.tellLate(ctx, h, a, r.Actor, r.Result)
		case r.Outcome == job.OutcomeSucceeded:
			err = t.resolveWin(ctx, h, a, r, detail)
		default:
			followed, err = t.resolveFailure(ctx, h, a, r, detail)
		}
		if err != nil {
			return err
		}
		return t.run(ctx, &query{sql: listAttempts, args: pgx.NamedArgs{"job": r.Job, "owner": r.Owner}, read: readAttempts(&after)})
	})
	if errors.Is(err, job.ErrLate) || errors.Is(err, job.ErrAttemptTerminal) {
		err = job.ErrNotUnknown // settled between our look and our lock
	}
	if err != nil {
		return job.Attempt{}, fmt.Errorf("resolve attempt %d of job %s: %w", r.N, r.Job, err)
	}
	if followed {
		s.wake()
	}
	return *(&held{attempts: after}).attempt(r.N), nil
}

func (t *tx) resolveWin(ctx context.Context, h *held, a *job.Attempt, r job.Resolution, detail []byte) error {
	args := pgx.NamedArgs{
		"job": h.ID, "version": h.Version, "attempt": a.ID, "result": r.Result,
		"to": job.StateSucceeded, "actor": r.Actor, "reason": r.Reason, "detail": detail, "why": "job succeeded", "op": t.op,
	}
	complete, resolve := &query{sql: completeJob, args: args}, &query{sql: resolveAttempt, args: args}
	if err := t.run(ctx, complete, resolve, &query{sql: cancelNotBegun, args: args}); err != nil {
		return err
	}
	if complete.rows != 1 || resolve.rows != rowsOfWin {
		return job.ErrLate
	}
	return nil
}

func (t *tx) resolveFailure(ctx context.Context, h *held, a *job.Attempt, r job.Resolution, detail []byte) (followed bool, err error) {
	fail := &query{sql: resolveAttempt, args: pgx.NamedArgs{
		"attempt": a.ID, "to": job.StateFailed, "actor": r.Actor, "reason": r.Reason, "detail": detail, "op": t.op}}
	if err := t.run(ctx, fail); err != nil {
		return false, err
	}
	if fail.rows == 0 {
		return false, job.ErrAttemptTerminal
	}
	return t.follow(ctx, h, job.Settlement{Attempt: a.ID, Reason: r.Reason, Failure: job.Failure{Class: job.ClassResolved}})
}
