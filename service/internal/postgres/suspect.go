package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/interlock-harness/interlock/service/internal/job"
)

const suspectProvider = `
	INSERT INTO attempt_events (job_id, type, actor, reason, detail, operation_id)
	VALUES (@job, 'provider.suspected', @actor, @reason, @detail, @op)`

// TellSuspected records, as an event of the job whose answer showed it, that a
// provider is suspected to have changed since it was certified, and why. Nothing
// about the job moves.
func (s *Store) TellSuspected(ctx context.Context, id job.ID, suspected job.Denial) error {
	detail, err := encode(suspected)
	if err != nil {
		return err
	}
	err = s.transact(ctx, id, newOperation(), func(ctx context.Context, t *tx) error {
		return t.run(ctx,
			&query{sql: awaitJob, args: pgx.NamedArgs{"job": id}},
			&query{sql: suspectProvider, args: pgx.NamedArgs{
				"job": id, "actor": actorDrift, "reason": suspected.Provider, "detail": detail, "op": t.op}})
	})
	if err != nil {
		return fmt.Errorf("record the suspicion of job %s: %w", id, err)
	}
	return nil
}
