package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/interlock-harness/interlock/service/internal/job"
)

// The table of attempts is the queue. A row that another worker, or any mover of
// its job, has locked is skipped and not waited for.
const claimAttempts = `
	WITH picked AS (
		SELECT a.id, j.id AS job_id, j.owner, j.key, j.intent, j.version, j.created_at
		FROM   attempts a JOIN jobs j ON j.id = a.job_id
		WHERE  a.state = 'starting'
		  AND  a.worker IS NULL
		  AND  a.fence > @above
		  AND  (a.not_before <= clock_timestamp()   -- back-off and Retry-After
		        OR a.not_before <= a.started_at)    -- none, whatever the clock says by now
		  AND  a.provider <> ALL (@busy)            -- those that this worker has no room for
		  AND  j.completed_by IS NULL
		  AND  j.cancelled_at IS NULL
		ORDER BY a.fence
		LIMIT  @limit
		FOR NO KEY UPDATE OF a, j SKIP LOCKED
	), claimed AS (
		UPDATE attempts a
		SET    state = 'running', worker = @worker, since = clock_timestamp(),
		       lease_until = clock_timestamp() + @lease::interval,
		       deadline_at = clock_timestamp() + a.deadline_ms * interval '1 ms'
		FROM   picked
		WHERE  a.id = picked.id
		  AND  a.state = 'starting' -- nobody else took it: 0 rows, do not call
		RETURNING ` + attemptColumns + `, a.deadline_ms, a.lease_until,
		       picked.owner, picked.key, picked.intent, picked.version, picked.created_at
	), told AS (
		INSERT INTO attempt_events (job_id, attempt_id, type, from_state, to_state, actor, operation_id)
		SELECT job_id, id, 'attempt.moved', 'starting', 'running', @actor, @op
		FROM   claimed
	)
	SELECT * FROM claimed ORDER BY fence`

const stillClaimed = `
	SELECT id
	FROM   attempts
	WHERE  id = ANY (@attempts)
	  AND  worker = @worker -- which claims an attempt once at most
	FOR NO KEY UPDATE`

// Claim takes up to limit attempts for worker and returns them; from then on they
// are running and leased, committed before the caller can send a byte. Attempts
// at the providers in busy are left alone. worker must be unique to the process.
func (s *Store) Claim(ctx context.Context, worker string, lease time.Duration, limit int, busy ...string) ([]job.Claimed, error) {
	ctx, cancel := context.WithTimeout(ctx, s.options.Patience)
	defer cancel()
	if busy == nil {
		busy = []string{}
	}
	var claimed []job.Claimed
	scan := s.queue.begin(time.Now())
	inDoubt, err := s.once(ctx, newOperation(), func(ctx context.Context, t *tx) error {
		return t.run(ctx, &query{sql: claimAttempts, args: pgx.NamedArgs{
			"worker": worker, "lease": lease, "limit": limit, "busy": busy, "above": scan.above, "actor": "worker", "op": t.op,
		}, read: readClaimed(&claimed)})
	})
	if inDoubt {
		err = s.whichAreClaimed(context.WithoutCancel(ctx), worker, &claimed)
	}
	if err != nil {
		// Not claimed, or not known to be: nothing is called. Attempts that were
		// claimed after all become unknown when their lease passes.
		return nil, fmt.Errorf("claim: %w", toJob(err))
	}
	s.queue.end(scan, time.Now(), claimed)
	s.careless.keep(ctx, s, claimed)
	return claimed, nil
}

// whichAreClaimed keeps those of claimed that worker really holds, after a lost
// COMMIT. It waits for a transaction that is still committing them.
func (s *Store) whichAreClaimed(ctx context.Context, worker string, claimed *[]job.Claimed) error {
	ids := make([]job.AttemptID, len(*claimed))
	for i, c := range *claimed {
		ids[i] = c.Attempt.ID
	}
	ctx, cancel := context.WithTimeout(ctx, s.options.Patience)
	defer cancel()
	mine := map[job.AttemptID]bool{}
	q := &query{sql: stillClaimed, args: pgx.NamedArgs{"attempts": ids, "worker": worker}, read: func(rows pgx.Rows) error {
		for rows.Next() {
			var id job.AttemptID
			if err := rows.Scan(&id); err != nil {
				return err
			}
			mine[id] = true
		}
		return nil
	}}
	err := s.retry(ctx, func(c *pgx.Conn) error {
		clear(mine)
		return s.roundTrip(ctx, c, trip{begin: true, commit: true}, q)
	})
	if err != nil {
		return err
	}
	kept := (*claimed)[:0]
	for _, c := range *claimed {
		if mine[c.Attempt.ID] {
			kept = append(kept, c)
		}
	}
	*claimed = kept
	return nil
}

func readClaimed(claimed *[]job.Claimed) func(pgx.Rows) error {
	return func(rows pgx.Rows) error {
		*claimed = (*claimed)[:0]
		for rows.Next() {
			var c job.Claimed
			var milliseconds int64
			var intent []byte
			fields := append(attemptFields(&c.Attempt), &milliseconds, &c.LeaseUntil,
				&c.Job.Owner, &c.Job.Key, &intent, &c.Job.Version, &c.Job.CreatedAt)
			if err := rows.Scan(fields...); err != nil {
				return err
			}
			c.Job.ID = c.Attempt.JobID
			c.Deadline = time.Duration(milliseconds) * time.Millisecond
			if err := fill(&c.Job, intent, nil, nil); err != nil {
				return err
			}
			*claimed = append(*claimed, c)
		}
		return nil
	}
}
