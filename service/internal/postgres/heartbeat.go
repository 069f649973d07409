package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/interlock-harness/interlock/service/internal/job"
)

// No event: a heartbeat moves nothing. No index holds the lease, so the update
// stays on its heap page.
const heartbeat = `
	UPDATE attempts
	SET    lease_until = clock_timestamp() + @lease::interval
	WHERE  id = ANY (@attempts)
	  AND  worker = @worker
	  AND  state = 'running' -- one that was taken from us is not ours to keep
	RETURNING id`

// Heartbeat renews the leases of attempts that worker holds and returns those
// that still run. The others became unknown or were cancelled meanwhile; their
// answer may still matter, their lease does not.
func (s *Store) Heartbeat(ctx context.Context, worker string, lease time.Duration, attempts []job.AttemptID) ([]job.AttemptID, error) {
	var running []job.AttemptID
	err := s.read(ctx, &query{sql: heartbeat, args: pgx.NamedArgs{"worker": worker, "lease": lease, "attempts": attempts},
		read: func(rows pgx.Rows) error {
			running = running[:0]
			for rows.Next() {
				var id job.AttemptID
				if err := rows.Scan(&id); err != nil {
					return err
				}
				running = append(running, id)
			}
			return nil
		}})
	if err != nil {
		return nil, fmt.Errorf("heartbeat of %s: %w", worker, err)
	}
	return running, nil
}
