package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/interlock-harness/interlock/service/internal/job"
	"github.com/interlock-harness/interlock/service/internal/mutant"
)

const (
	triggeredAttempt = `
	SELECT ` + attemptColumns + `, a.trigger_fingerprint
	FROM   attempts a JOIN jobs j ON j.id = a.job_id
	WHERE  a.job_id = @job
	  AND  (j.owner = @owner OR @owner = '*')
	  AND  a.trigger_key = @trigger`

	// The job's lock is held, so n is the next number. Whether another attempt is
	// open the index one_open_attempt_per_job decides, not we.
	startAttempt = `
	WITH added AS (
		INSERT INTO attempts AS a (id, job_id, n, provider, state, deadline_ms, not_before, trigger_key, trigger_fingerprint)
		SELECT @attempt, @job, coalesce(max(n), 0) + 1, @provider, 'starting', @deadline_ms,
		       clock_timestamp() + @wait::interval, @trigger, @trigger_fingerprint
		FROM   attempts
		WHERE  job_id = @job
		RETURNING ` + attemptColumns + `
	), told AS (
		INSERT INTO attempt_events (job_id, attempt_id, type, to_state, actor, reason, operation_id)
		SELECT job_id, id, 'attempt.moved', 'starting', @actor, @reason, @op
		FROM   added
	)
	SELECT * FROM added`

	denyFailover = `
	INSERT INTO attempt_events (job_id, type, actor, reason, detail, operation_id)
	VALUES (@job, 'failover.denied', @actor, @reason, @detail, @op)`
)

// StartAttempt adds an attempt in state starting. replayed is true when the
// trigger key was used before for the same input: then it is that attempt, as it
// stands now.
//
// Errors, in this order: job.ErrNotFound; *job.KeyConflictError when the trigger
// key belongs to another input; *job.VersionError; job.ErrTerminal;
// *job.InFlightError; *job.NotCertifiedError with the gate's reasons, which is
// also recorded as an event.
func (s *Store) StartAttempt(ctx context.Context, in job.Start) (a job.Attempt, replayed bool, err error) {
	op := newOperation()
	var denied *job.NotCertifiedError
	err = s.transact(ctx, in.Job, op, func(ctx context.Context, t *tx) error {
		if s.mutant.Is(mutant.LostStartIsNew) && a.ID != "" { // the second run of a first one that was lost
			in.TriggerKey = ""
		}
		replayed, denied = false, nil
		var byTrigger job.Attempt
		var fingerprint []byte
		trigger := &query{sql: triggeredAttempt,
			args: pgx.NamedArgs{"job": in.Job, "owner": in.Owner, "trigger": in.TriggerKey},
			read: one(append(attemptFields(&byTrigger), &fingerprint)...)}
		h, err := t.hold(ctx, in.Owner, in.Job, nil, trigger)
		if err != nil {
			return err
		}
		if in.TriggerKey != "" && trigger.rows > 0 {
			if string(fingerprint) != string(in.TriggerFingerprint[:]) {
				return &job.KeyConflictError{JobID: in.Job}
			}
			a, replayed = byTrigger, true
			return nil
		}
		if m := in.Match; m != nil && (m.Version != h.Version || m.Event != 0 && m.Event != h.LastEvent) {
			return &job.VersionError{Have: h.Version}
		}
		if h.finished() {
			return job.ErrTerminal
		}
		provider := in.Provider
		if provider == "" {
			provider = h.Intent.Provider
		}
		next := attemptToStart{Provider: provider, Trigger: in.TriggerKey, Fingerprint: in.TriggerFingerprint, Actor: in.Actor}
		if a, err = t.start(ctx, h, next); err != nil {
			return err
		}
		// The gate is asked last, at the moment of the start, and the insert above is
		// undone when it refuses: a job that is not free says so first.
		if reasons := s.failover.Allow(h.Job, provider); len(reasons) > 0 {
			denied = &job.NotCertifiedError{Provider: provider, Reasons: reasons}
			return denied
		}
		return nil
	})
	switch {
	case errors.Is(err, errInFlight):
		return job.Attempt{}, false, s.inFlight(ctx, in.Owner, in.Job)
	case denied != nil:
		if err := s.tellDenied(ctx, in.Job, in.Actor, denied); err != nil {
			return job.Attempt{}, false, fmt.Errorf("record the gate's refusal for job %s: %w", in.Job, err)
		}
		return job.Attempt{}, false, denied
	case err != nil:
		return job.Attempt{}, false, fmt.Errorf("start attempt of job %s: %w", in.Job, err)
	}
	if !replayed {
		s.wake()
	}
	return a, replayed, nil
}

// attemptToStart is what a new attempt row says.
type attemptToStart struct {
	Provider    string
	Wait        time.Duration // no worker claims it before
	Trigger     job.Key
	Fingerprint [32]byte
	Actor       string
	Reason      string
}

// start inserts the attempt. The job's lock is held. It is errInFlight when
// another one is open.
func (t *tx) start(ctx context.Context, h *held, in attemptToStart) (job.Attempt, error) {
	args := pgx.NamedArgs{
		"attempt": uuid.Must(uuid.NewV7()), "job": h.ID, "provider": in.Provider, "deadline_ms": h.Intent.DeadlineMS,
		"wait": in.Wait, "trigger": nil, "trigger_fingerprint": nil,
		"actor": in.Actor, "reason": in.Reason, "op": t.op,
	}
	if in.Trigger != "" {
		args["trigger"], args["trigger_fingerprint"] = in.Trigger, in.Fingerprint[:]
	}
	var a job.Attempt
	err := t.run(ctx, &query{sql: startAttempt, args: args, read: one(attemptFields(&a)...)})
	return a, err
}

// inFlight says which attempt is open. It may have ended since: then the caller
// just tries again.
func (s *Store) inFlight(ctx context.Context, owner job.Owner, id job.ID) error {
	attempts, err := s.Attempts(ctx, owner, id)
	if err != nil {
		return err
	}
	h := held{attempts: attempts}
	open := h.open()
	if open == nil {
		open = &attempts[len(attempts)-1]
	}
	return &job.InFlightError{Attempt: open.ID, State: open.State, Since: open.Since}
}

// tellDenied records a refusal of the gate, in a transaction of its own: that of
// the start was undone.
func (s *Store) tellDenied(ctx context.Context, id job.ID, actor string, denied *job.NotCertifiedError) error {
	return s.transact(ctx, id, newOperation(), func(ctx context.Context, t *tx) error {
		deny, err := t.denial(id, actor, job.Denial{Provider: denied.Provider, Reasons: denied.Reasons})
		if err != nil {
			return err
		}
		return t.run(ctx, &query{sql: awaitJob, args: pgx.NamedArgs{"job": id}}, deny)
	})
}

// denial is the event of one refusal of the gate.
func (t *tx) denial(id job.ID, actor string, d job.Denial) (*query, error) {
	detail, err := encode(d)
	if err != nil {
		return nil, err
	}
	return &query{sql: denyFailover, args: pgx.NamedArgs{
		"job": id, "actor": actor, "reason": d.Provider, "detail": detail, "op": t.op}}, nil
}
