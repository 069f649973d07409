package postgres

import (
	"context"
	"fmt"
	"math"

	"github.com/jackc/pgx/v5"

	"github.com/interlock-harness/interlock/service/internal/job"
)

const listRaces = `
	SELECT r.id, r.at, r.job_id, r.attempt_id, a.n, r.winner_id, r.reason,
	       r.payload_sha256, r.payload_bytes, r.started_at
	FROM   races r
	JOIN   jobs j ON j.id = r.job_id
	JOIN   attempts a ON a.id = r.attempt_id
	WHERE  (j.owner = @owner OR @owner = '*') -- another owner's races do not exist
	  AND  (@job::uuid IS NULL OR r.job_id = @job)
	  AND  r.id < @after
	ORDER BY r.id DESC
	LIMIT  @limit`

// Races lists late results, newest first: who won, who lost, and what was dropped.
func (s *Store) Races(ctx context.Context, owner job.Owner, f job.RaceFilter) ([]job.Race, error) {
	args := pgx.NamedArgs{"owner": owner, "job": nil, "after": f.After, "limit": page(f.Limit)}
	if f.Job != "" {
		args["job"] = f.Job
	}
	if f.After == 0 {
		args["after"] = int64(math.MaxInt64)
	}
	var found []job.Race
	err := s.read(ctx, &query{sql: listRaces, args: args, read: func(rows pgx.Rows) error {
		found = found[:0]
		for rows.Next() {
			var r job.Race
			var winner *job.AttemptID
			var sum []byte
			if err := rows.Scan(&r.ID, &r.At, &r.Job, &r.Attempt, &r.N, &winner, &r.Reason, &sum, &r.PayloadBytes, &r.StartedAt); err != nil {
				return err
			}
			if winner != nil {
				r.Winner = *winner
			}
			copy(r.PayloadSHA256[:], sum)
			found = append(found, r)
		}
		return nil
	}})
	if err != nil {
		return nil, fmt.Errorf("list races: %w", err)
	}
	return found, nil
}
