package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// The statement lies in the database, since the service may not delete: see
// purge_jobs in the migrations.
const purgeJobs = `SELECT purge_jobs(clock_timestamp() - @age::interval, @most)`

// Purge empties up to most jobs all of whose attempts ended longer than age ago:
// payloads, attempts, events and races go; owner, key and fingerprint stay, so
// that the key is never free again and answers job.ErrPurged. It returns how many
// it emptied. Repeating it is harmless.
func (s *Store) Purge(ctx context.Context, age time.Duration, most int) (int, error) {
	var purged int
	err := s.retry(ctx, func(c *pgx.Conn) error {
		return s.roundTrip(ctx, c, trip{begin: true, commit: true},
			&query{sql: purgeJobs, args: pgx.NamedArgs{"age": age, "most": most}, read: one(&purged)})
	})
	if err != nil {
		return 0, fmt.Errorf("purge: %w", toJob(err))
	}
	return purged, nil
}
