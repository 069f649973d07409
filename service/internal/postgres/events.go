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
		if _, err := s.Job(ctx, owner, id); err != nil {
			return nil, err
		}
	}
	return found, nil
}

const pulseOfJobs = `
	SELECT j.id, j.version, s.status,
	       coalesce((SELECT max(e.id) FROM attempt_events e WHERE e.job_id = j.id), 0)
	FROM   jobs j JOIN job_status s ON s.id = j.id
	WHERE  j.id = ANY (@jobs)`

// Pulse returns version, newest event and status of many jobs at once: all that
// waiters need to know, without the payloads. Ids that do not exist are left
// out. It is scoped to nobody: ask only for jobs that were found by their owner.
func (s *Store) Pulse(ctx context.Context, ids []job.ID) (map[job.ID]job.Pulse, error) {
	found := make(map[job.ID]job.Pulse, len(ids))
	err := s.read(ctx, &query{sql: pulseOfJobs, args: pgx.NamedArgs{"jobs": ids}, read: func(rows pgx.Rows) error {
		clear(found)
		for rows.Next() {
			var id job.ID
			var p job.Pulse
			if err := rows.Scan(&id, &p.Version, &p.Status, &p.Event); err != nil {
				return err
			}
			found[id] = p
		}
		return nil
	}})
	if err != nil {
		return nil, fmt.Errorf("pulse of %d jobs: %w", len(ids), err)
	}
	return found, nil
}
