package postgres

import (
	"bytes"
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/interlock-harness/interlock/service/internal/job"
)

const listEvents = `
	SELECT e.id, e.at, e.job_id, e.attempt_id, coalesce(a.n, 0), e.type,
	       coalesce(e.from_state, ''), coalesce(e.to_state, ''), e.actor, e.reason, e.detail
	FROM   jobs j
	JOIN   attempt_events e ON e.job_id = j.id
	LEFT JOIN attempts a ON a.id = e.attempt_id
	WHERE  j.id = @job
	  AND  (j.owner = @owner OR @owner = '*') -- another owner's job does not exist
	  AND  e.id > @after
	ORDER BY e.id
	LIMIT  @limit`

// Events lists the events of a job numbered above after, oldest first, at most
// limit (1 to 1000). Movers of a job hold its lock while they take a number, so
// within a job the numbers rise in commit order and none appears behind a reader.
// A job of another owner is job.ErrNotFound.
func (s *Store) Events(ctx context.Context, owner job.Owner, id job.ID, after int64, limit int) ([]job.Event, error) {
	var found []job.Event
	args := pgx.NamedArgs{"job": id, "owner": owner, "after": after, "limit": page(limit)}
	err := s.read(ctx, &query{sql: listEvents, args: args, read: func(rows pgx.Rows) error {
		found = found[:0]
		for rows.Next() {
			var e job.Event
			var attempt *job.AttemptID
			var detail []byte
			if err := rows.Scan(&e.ID, &e.At, &e.Job, &attempt, &e.N, &e.Type, &e.From, &e.To, &e.Actor, &e.Reason, &detail); err != nil {
				return err
			}
			if attempt != nil {
				e.Attempt = *attempt
			}
			if detail != nil {
				e.Detail = bytes.Clone(detail)
			}
			found = append(found, e)
		}
		return nil
	}})
	if err != nil {
		return nil, fmt.Errorf("list events of job %s: %w", id, err)
	}
	if len(found) == 0 { // nothing new, or no such job
		if _, err := s.Pulse(ctx, owner, id); err != nil {
			return nil, err
		}
	}
	return found, nil
}

const pulseOfJob = `
	SELECT j.version, s.status,
	       coalesce((SELECT max(e.id) FROM attempt_events e WHERE e.job_id = j.id), 0),
	       j.purged_at IS NOT NULL
	FROM   jobs j JOIN job_status s ON s.id = j.id
	WHERE  j.id = @job
	  AND  (j.owner = @owner OR @owner = '*')`

// Pulse returns version, newest event and status of a job: all that a waiter
// needs to know, without its payloads. Errors as for Job.
func (s *Store) Pulse(ctx context.Context, owner job.Owner, id job.ID) (job.Pulse, error) {
	var p job.Pulse
	var purged bool
	q := &query{sql: pulseOfJob, args: pgx.NamedArgs{"job": id, "owner": owner}, read: one(&p.Version, &p.Status, &p.Event, &purged)}
	if err := s.read(ctx, q); err != nil {
		return job.Pulse{}, fmt.Errorf("pulse of job %s: %w", id, err)
	}
	switch {
	case q.rows == 0:
		return job.Pulse{}, job.ErrNotFound
	case purged:
		return job.Pulse{}, job.ErrPurged
	}
	return p, nil
}
