package postgres

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/interlock-harness/interlock/service/internal/job"
)

// The columns of a job as readers see it. attempts, newest event and status are
// looked up, never stored on the job. A list leaves out inputs and results: a page
// of them could be a thousand times a megabyte.
const (
	jobColumns = `
	       j.id, j.owner, j.key, j.intent, j.version, s.status, j.result` + jobRest
	listColumns = `
	       j.id, j.owner, j.key,
	       json_build_object('contract', j.intent -> 'contract', 'provider', j.intent -> 'provider', 'race', j.intent -> 'race'),
	       j.version, s.status, NULL::json` + jobRest
	jobRest = `, j.completed_by,
	       j.created_at, j.completed_at, j.cancelled_at, j.purged_at,
	       j.fingerprint, j.fingerprint_algorithm,
	       (SELECT count(*) FROM attempts a WHERE a.job_id = j.id),
	       coalesce((SELECT max(e.id) FROM attempt_events e WHERE e.job_id = j.id), 0)`
)

const (
	jobByID = `
	SELECT ` + jobColumns + `
	FROM   jobs j JOIN job_status s ON s.id = j.id
	WHERE  j.id = @job
	  AND  (j.owner = @owner OR @owner = '*') -- another owner's job does not exist`

	jobByKey = `
	SELECT ` + jobColumns + `
	FROM   jobs j JOIN job_status s ON s.id = j.id
	WHERE  j.owner = @owner -- a key means something within its owner only
	  AND  j.key = @key`
)

// stored is a job with what only the store compares.
type stored struct {
	job.Job
	PurgedAt    *time.Time
	Fingerprint [32]byte
	Algorithm   int16
}

// Job returns the job of that id. It is job.ErrNotFound when owner has none, and
// job.ErrPurged when its payloads were removed.
func (s *Store) Job(ctx context.Context, owner job.Owner, id job.ID) (job.Job, error) {
	return s.oneJob(ctx, jobByID, pgx.NamedArgs{"job": id, "owner": owner})
}

// JobByKey returns the job that owner submitted under key; errors as for Job.
func (s *Store) JobByKey(ctx context.Context, owner job.Owner, key job.Key) (job.Job, error) {
	return s.oneJob(ctx, jobByKey, pgx.NamedArgs{"owner": owner, "key": key})
}

func (s *Store) oneJob(ctx context.Context, sql string, args pgx.NamedArgs) (job.Job, error) {
	found, err := s.oneStored(ctx, sql, args)
	if err != nil {
		return job.Job{}, err
	}
	if found.PurgedAt != nil {
		return job.Job{}, job.ErrPurged
	}
	return found.Job, nil
}

func (s *Store) oneStored(ctx context.Context, sql string, args pgx.NamedArgs) (stored, error) {
	var found []stored
	q := &query{sql: sql, args: args, read: readJobs(&found)}
	if err := s.read(ctx, q); err != nil {
		return stored{}, fmt.Errorf("read job: %w", err)
	}
	if len(found) == 0 {
		return stored{}, job.ErrNotFound
	}
	return found[0], nil
}

// readJobs appends the rows of jobColumns or listColumns to found.
func readJobs(found *[]stored) func(pgx.Rows) error {
	return func(rows pgx.Rows) error {
		*found = (*found)[:0] // a repeated read starts anew
		for rows.Next() {
			var j stored
			var intent, result, fingerprint []byte
			var completedBy *job.AttemptID
			err := rows.Scan(&j.ID, &j.Owner, &j.Key, &intent, &j.Version, &j.Status, &result, &completedBy,
				&j.CreatedAt, &j.CompletedAt, &j.CancelledAt, &j.PurgedAt,
				&fingerprint, &j.Algorithm, &j.Attempts, &j.LastEvent)
			if err != nil {
				return err
			}
			copy(j.Fingerprint[:], fingerprint)
			if err := fill(&j.Job, intent, result, completedBy); err != nil {
				return err
			}
			*found = append(*found, j)
		}
		return nil
	}
}

// fill sets what PostgreSQL holds as JSON or NULL.
func fill(j *job.Job, intent, result []byte, completedBy *job.AttemptID) error {
	if intent != nil {
		if err := json.Unmarshal(intent, &j.Intent); err != nil {
			return fmt.Errorf("intent of job %s: %w", j.ID, err)
		}
	}
	if result != nil {
		j.Result = bytes.Clone(result) // the judged bytes, not a rendering of them
	}
	if completedBy != nil {
		j.CompletedBy = *completedBy
	}
	return nil
}

// encode renders v as JSON without touching what is JSON already.
func encode(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
