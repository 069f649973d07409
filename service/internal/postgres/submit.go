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

// The job, its first attempt and their events are one statement: there is no
// moment at which a job has no attempt.
const submitJob = `
	WITH new_job AS (
		INSERT INTO jobs (id, owner, key, fingerprint, fingerprint_algorithm, request, intent)
		VALUES (@job, @owner, @key, @fingerprint, @algorithm, @request, @intent)
		ON CONFLICT ON CONSTRAINT jobs_owner_key DO NOTHING -- the key is taken: 0 rows, and nothing below happens
		RETURNING id, created_at
	), first_attempt AS (
		INSERT INTO attempts (id, job_id, n, provider, state, deadline_ms)
		SELECT @attempt, id, 1, @provider, 'starting', @deadline_ms
		FROM   new_job
		RETURNING id, job_id
	), told AS (
		INSERT INTO attempt_events (job_id, attempt_id, type, to_state, actor, operation_id)
		SELECT id, NULL::uuid, 'job.submitted', NULL, @actor, @op::uuid FROM new_job
		UNION ALL
		SELECT job_id, id, 'attempt.moved', 'starting', @actor, @op::uuid FROM first_attempt
		RETURNING id
	)
	SELECT created_at, (SELECT max(id) FROM told)
	FROM   new_job`

// Submit stores in as a new job with its first attempt, and returns it with
// created = true; or returns the job that its key names already. It is a
// *job.KeyConflictError when that job has another fingerprint, whatever its
// state, and job.ErrPurged when it was purged.
//
// The read of an existing job is a statement of its own: in one combined
// statement the row of a concurrent submit, committed after our snapshot, would
// be neither inserted nor found.
func (s *Store) Submit(ctx context.Context, in job.Submission) (j job.Job, created bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.options.Patience)
	defer cancel()
	intent, err := encode(in.Intent)
	if err != nil {
		return job.Job{}, false, fmt.Errorf("submit: %w", err)
	}
	mine := job.ID(uuid.Must(uuid.NewV7()).String())
	args := pgx.NamedArgs{
		"job": mine, "owner": in.Owner, "key": in.Key,
		"fingerprint": in.Fingerprint[:], "algorithm": in.FingerprintAlgorithm,
		"request": in.RawBody, "intent": intent,
		"attempt": uuid.Must(uuid.NewV7()), "provider": in.Intent.Provider, "deadline_ms": in.Intent.DeadlineMS,
		"actor": "owner:" + string(in.Owner), "op": newOperation(),
	}
	if args["request"] == nil {
		args["request"] = []byte{}
	}
	j = job.Job{
		ID: mine, Owner: in.Owner, Key: in.Key, Intent: in.Intent,
		Version: 1, Status: job.StatusStarting, Attempts: 1,
	}
	before, err := s.lookFirst(ctx, in)
	if err == nil && before == nil {
		before, err = s.lookUpRecent(ctx, in)
	}
	if err != nil {
		return job.Job{}, false, fmt.Errorf("submit: %w", err)
	}
	for pause := firstPause; !before.found(); pause = min(2*pause, lastPause) {
		got, err := s.insert(ctx, args)
		if err == nil && got.isNew {
			j.CreatedAt, j.LastEvent = got.createdAt, got.lastEvent
			s.addAttemptApart(ctx, args)
			s.recent.note(in.Owner, in.Key)
			s.wake()
			return j, true, nil
		}
		if err == nil {
			break // the key is taken
		}
		var lost *wireError
		if !errors.As(err, &lost) && !s.again(err) {
			return job.Job{}, false, fmt.Errorf("submit: %w", toJob(err))
		}
		if s.mutant.Is(mutant.LostCommitIsSuccess) {
			return j, true, nil
		}
		if s.mutant.Is(mutant.LostSubmitIsNew) {
			mine = job.ID(uuid.Must(uuid.NewV7()).String())
			j.ID, args["job"], args["attempt"], args["key"] = mine, mine, uuid.Must(uuid.NewV7()), in.Key+"~"
		}
		// Whether it was stored is not known. The same insert with the same ids is
		// safe: it waits for a transaction that still holds the key, and then finds
		// either nothing or the row, which our id below tells to be ours.
		select {
		case <-ctx.Done():
			return job.Job{}, false, fmt.Errorf("submit: %w", toJob(err))
		case <-time.After(pause):
		}
	}
	found, err := s.storedUnder(ctx, in, before)
	if err != nil {
		return job.Job{}, false, fmt.Errorf("submit: %w", err)
	}
	s.recent.note(in.Owner, in.Key)
	switch {
	case found.ID == mine: // an insert of ours whose answer was lost
		s.wake()
		return found.Job, true, nil
	case found.Fingerprint != in.Fingerprint || found.Algorithm != in.FingerprintAlgorithm:
		return job.Job{}, false, &job.KeyConflictError{JobID: found.ID}
	case found.PurgedAt != nil:
		return job.Job{}, false, job.ErrPurged
	}
	return found.Job, false, nil
}

// flight runs one statement in a transaction of its own, BEGIN and COMMIT in the
// same round trip.
func (s *Store) flight(ctx context.Context, q *query) error {
	c, err := s.acquire(ctx)
	if err != nil {
		return err
	}
	defer c.Release()
	return s.roundTrip(ctx, c.Conn(), trip{begin: true, commit: true}, q)
}
