package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/interlock-harness/interlock/service/internal/job"
)

// The compare-and-swap is two statements that must each touch one row. One
// statement with an EXISTS on the attempt would miss a cancel that is committed
// while it waits for the job's row: after such a wait PostgreSQL looks again at
// the row it waited for, and at no other.
const (
	completeJob = `
	UPDATE jobs
	SET    result = @result, completed_by = @attempt, completed_at = clock_timestamp(), version = version + 1
	WHERE  id = @job
	  AND  version = @version    -- nobody moved the job since we claimed
	  AND  completed_by IS NULL  -- nobody finished it before us
	  AND  cancelled_at IS NULL  -- its owner still wants it`

	winAttempt = `
	WITH won AS (
		UPDATE attempts
		SET    state = 'succeeded', reason = @reason, since = clock_timestamp(), ended_at = clock_timestamp()
		WHERE  id = @attempt
		  AND  fence = @fence                               -- ours, and no other's
		  AND  state IN ('running', 'unknown', 'released')  -- still a contender: not cancelled, failed or resolved
		RETURNING id, job_id
	)
	INSERT INTO attempt_events (job_id, attempt_id, type, from_state, to_state, actor, reason, operation_id)
	SELECT won.job_id, won.id, 'attempt.moved', before.state, 'succeeded', @actor, @reason, @op::uuid
	FROM   won JOIN attempts before ON before.id = won.id -- as it was when this statement began
	UNION ALL
	SELECT won.job_id, won.id, 'job.succeeded', NULL, NULL, @actor, @reason, @op::uuid
	FROM   won`

	// What was never sent need not be sent any more.
	cancelNotBegun = `
	WITH cancelled AS (
		UPDATE attempts
		SET    state = 'cancelled', reason = @why, since = clock_timestamp(), ended_at = clock_timestamp()
		WHERE  job_id = @job
		  AND  state = 'starting' -- one that runs goes on, and ends as lost
		RETURNING id, job_id
	)
	INSERT INTO attempt_events (job_id, attempt_id, type, from_state, to_state, actor, reason, operation_id)
	SELECT job_id, id, 'attempt.moved', 'starting', 'cancelled', @actor, @why, @op
	FROM   cancelled`
)

// rowsOfWin are the events of one win: the attempt moved and the job succeeded.
const rowsOfWin = 2

// Complete stores result, the judged bytes of one JSON value, as the outcome of
// the job on behalf of the attempt in by. It returns job.ErrLate when the job or
// the attempt was finished first: then the attempt is lost (if it was still a
// contender), the result is dropped, and one race row tells of it.
//
// The same call may be repeated after job.ErrUnavailable: a win whose answer was
// lost is found by its operation.
func (s *Store) Complete(ctx context.Context, by job.Settlement, result json.RawMessage) error {
	s.careless.letGo(by.Attempt)
	op := operationOf("complete " + string(by.Attempt))
	args := pgx.NamedArgs{
		"job": by.Job, "version": by.Version, "attempt": by.Attempt, "fence": by.Fence, "result": result,
		"actor": by.Actor, "reason": by.Reason, "why": "job succeeded", "op": op,
	}
	err := s.transact(ctx, by.Job, op, func(ctx context.Context, t *tx) error {
		job1 := &query{sql: completeJob, args: args}
		attempt1 := &query{sql: winAttempt, args: args}
		if err := t.run(ctx, job1, attempt1, &query{sql: cancelNotBegun, args: args}); err != nil {
			return err
		}
		if job1.rows != 1 || attempt1.rows != rowsOfWin {
			return job.ErrLate // undo whichever of the two was written
		}
		return nil
	})
	if errors.Is(err, job.ErrLate) || errors.Is(err, job.ErrTerminal) || errors.Is(err, job.ErrAttemptTerminal) {
		return s.lose(ctx, by, op, result)
	}
	if err != nil {
		return fmt.Errorf("complete job %s: %w", by.Job, err)
	}
	return nil
}
