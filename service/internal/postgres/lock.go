package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/interlock-harness/interlock/service/internal/job"
)

// lockJob makes the movers of one job queue up. It changes nothing: the row
// keeps its xmin, and waiters get it in the order in which they came.
const lockJob = `
	SELECT j.id, j.owner, j.key, j.intent, j.version, j.completed_by,
	       j.created_at, j.completed_at, j.cancelled_at, j.purged_at
	FROM   jobs j
	WHERE  j.id = @job
	  AND  (j.owner = @owner OR @owner = '*') -- another owner's job does not exist
	FOR NO KEY UPDATE OF j`

const newestEvent = `
	SELECT coalesce(max(id), 0)
	FROM   attempt_events
	WHERE  job_id = @job`

// held is a job whose row this transaction has locked, with its attempts as they
// stand under the lock.
type held struct {
	stored
	attempts []job.Attempt
}

// finished reports whether the job has its outcome.
func (h *held) finished() bool { return h.CompletedBy != "" || h.CancelledAt != nil }

// attempt returns attempt n, or nil.
func (h *held) attempt(n int) *job.Attempt {
	for i := range h.attempts {
		if h.attempts[i].N == n {
			return &h.attempts[i]
		}
	}
	return nil
}

// byID returns the attempt of that id, or nil.
func (h *held) byID(id job.AttemptID) *job.Attempt {
	for i := range h.attempts {
		if h.attempts[i].ID == id {
			return &h.attempts[i]
		}
	}
	return nil
}

// open returns the attempt that keeps a new one from starting, or nil.
func (h *held) open() *job.Attempt {
	for i := range h.attempts {
		if h.attempts[i].State.Open() {
			return &h.attempts[i]
		}
	}
	return nil
}

// hold locks job id of owner and reads its attempts and newest event under the
// lock, with further queries in the same round trip. It is job.ErrNotFound when
// owner has no such job, job.ErrPurged when it was purged, and a
// *job.VersionError when the caller's match is stale.
func (t *tx) hold(ctx context.Context, owner job.Owner, id job.ID, match *job.Match, more ...*query) (*held, error) {
	var h held
	var intent []byte
	var completedBy *job.AttemptID
	var purged *time.Time
	lock := &query{sql: lockJob, args: pgx.NamedArgs{"job": id, "owner": owner},
		read: one(&h.ID, &h.Owner, &h.Key, &intent, &h.Version, &completedBy,
			&h.CreatedAt, &h.CompletedAt, &h.CancelledAt, &purged)}
	byJob := pgx.NamedArgs{"job": id, "owner": owner}
	queries := append([]*query{
		lock,
		{sql: listAttempts, args: byJob, read: readAttempts(&h.attempts)},
		{sql: newestEvent, args: byJob, read: one(&h.LastEvent)},
	}, more...)
	if err := t.run(ctx, queries...); err != nil {
		return nil, err
	}
	if lock.rows == 0 {
		return nil, job.ErrNotFound
	}
	if purged != nil {
		return nil, job.ErrPurged
	}
	if err := fill(&h.Job, intent, nil, completedBy); err != nil {
		return nil, fmt.Errorf("lock job %s: %w", id, err)
	}
	h.Attempts = len(h.attempts)
	if match != nil && (match.Version != h.Version || match.Event != 0 && match.Event != h.LastEvent) {
		return nil, &job.VersionError{Have: h.Version}
	}
	return &h, nil
}
