package postgres

import (
	"context"

	"github.com/interlock-harness/interlock/service/internal/job"
)

const releaseAttempt = `
	WITH released AS (
		UPDATE attempts
		SET    state = 'released', reason = @reason, since = clock_timestamp()
		WHERE  id = @attempt
		  AND  state = 'unknown' -- one that runs may still answer in time; one that ended needs no release
		RETURNING id, job_id
	)
	INSERT INTO attempt_events (job_id, attempt_id, type, from_state, to_state, actor, reason, operation_id)
	SELECT job_id, id, 'attempt.moved', 'unknown', 'released', @actor, @reason, @op
	FROM   released`

// ReleaseAttempt lets a new attempt start although attempt m.N may still finish:
// it stops blocking and stays a contender. From here on there can be a race. It
// is job.ErrNotReleasable unless the attempt is unknown.
func (s *Store) ReleaseAttempt(ctx context.Context, m job.Move) (job.Attempt, error) {
	return s.moveAttempt(ctx, m, releaseAttempt, job.ErrNotReleasable)
}
