package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/interlock-harness/interlock/service/internal/job"
)

// maxPage bounds every list.
const maxPage = 1000

// Pages go by id, newest first: UUIDv7 rises with time, and a page is one walk
// along an index however far in it is. Purged jobs are left out.
const (
	listJobs = `
	SELECT ` + listColumns + `
	FROM   jobs j JOIN job_status s ON s.id = j.id
	WHERE  j.owner = @owner
	  AND  j.id < @after
	  AND  j.purged_at IS NULL
	  AND  (@status = '' OR s.status = @status)
	ORDER BY j.owner DESC, j.id DESC
	LIMIT  @limit`

	listAllJobs = `
	SELECT ` + listColumns + `
	FROM   jobs j JOIN job_status s ON s.id = j.id
	WHERE  j.id < @after
	  AND  j.purged_at IS NULL
	  AND  (@status = '' OR s.status = @status)
	ORDER BY j.id DESC
	LIMIT  @limit`

	// Few jobs are under way, so those are found from their open attempt and not
	// among all the finished ones.
	listOpenJobs = `
	SELECT ` + listColumns + `
	FROM   attempts o
	JOIN   jobs j ON j.id = o.job_id
	JOIN   job_status s ON s.id = j.id
	WHERE  o.state = @status
	  AND  o.state IN ('starting', 'running', 'unknown')
	  AND  o.n > 0 -- as it always is: the condition of the index
	  AND  (j.owner = @owner OR @owner = '*')
	  AND  j.id < @after
	  AND  s.status = @status -- a released first attempt may have won meanwhile
	ORDER BY j.id DESC
	LIMIT  @limit`
)

const lastID = "ffffffff-ffff-ffff-ffff-ffffffffffff"

// Jobs lists the jobs of owner, newest first, at most f.Limit (1 to 1000), without
// their inputs and results.
func (s *Store) Jobs(ctx context.Context, owner job.Owner, f job.Filter) ([]job.Job, error) {
	sql := listJobs
	switch {
	case f.Status == job.StatusStarting || f.Status == job.StatusRunning || f.Status == job.StatusUnknown:
		sql = listOpenJobs
	case owner == job.AnyOwner:
		sql = listAllJobs
	}
	args := pgx.NamedArgs{"owner": owner, "status": f.Status, "after": f.After, "limit": page(f.Limit)}
	if f.After == "" {
		args["after"] = lastID
	}
	var found []stored
	if err := s.read(ctx, &query{sql: sql, args: args, read: readJobs(&found)}); err != nil {
		return nil, fmt.Errorf("list jobs: %w", err)
	}
	jobs := make([]job.Job, len(found))
	for i := range found {
		jobs[i] = found[i].Job
	}
	return jobs, nil
}

func page(limit int) int {
	if limit < 1 || limit > maxPage {
		return maxPage
	}
	return limit
}

const attemptColumns = `
	       a.id, a.job_id, a.n, a.provider, a.state, a.reason, a.fence,
	       coalesce(a.trigger_key, ''), a.started_at, a.since, a.ended_at, a.retry_at`

const listAttempts = `
	SELECT ` + attemptColumns + `
	FROM   jobs j JOIN attempts a ON a.job_id = j.id
	WHERE  j.id = @job
	  AND  (j.owner = @owner OR @owner = '*') -- another owner's job does not exist
	ORDER BY a.n`

// Attempts lists the attempts of a job, oldest first. A job has at least one, so
// none means job.ErrNotFound (or job.ErrPurged).
func (s *Store) Attempts(ctx context.Context, owner job.Owner, id job.ID) ([]job.Attempt, error) {
	var found []job.Attempt
	err := s.read(ctx, &query{sql: listAttempts, args: pgx.NamedArgs{"job": id, "owner": owner}, read: readAttempts(&found)})
	if err != nil {
		return nil, fmt.Errorf("list attempts of job %s: %w", id, err)
	}
	if len(found) == 0 {
		if _, err := s.Job(ctx, owner, id); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// readAttempts appends the rows of attemptColumns to found.
func readAttempts(found *[]job.Attempt) func(pgx.Rows) error {
	return func(rows pgx.Rows) error {
		*found = (*found)[:0]
		for rows.Next() {
			var a job.Attempt
			if err := rows.Scan(attemptFields(&a)...); err != nil {
				return err
			}
			*found = append(*found, a)
		}
		return nil
	}
}

func attemptFields(a *job.Attempt) []any {
	return []any{&a.ID, &a.JobID, &a.N, &a.Provider, &a.State, &a.Reason, &a.Fence,
		&a.TriggerKey, &a.StartedAt, &a.Since, &a.EndedAt, &a.RetryAt}
}
