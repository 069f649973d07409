package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/interlock-harness/interlock/service/internal/job"
)

const (
	// No event: nothing moves. The id is kept once, and a first question is due
	// after the pause, should the attempt be unknown by then.
	keepRef = `
	UPDATE attempts
	SET    provider_ref = @ref, ask_at = clock_timestamp() + @pause::interval
	WHERE  id = @attempt
	  AND  fence = @fence
	  AND  state IN ('running', 'unknown', 'released') -- of one that has ended nothing is asked
	  AND  provider_ref IS NULL`

	// Taking a question sets when the next one is due, so that nobody else asks
	// meanwhile and a process that dies costs one question. The pause doubles; after
	// the last question there is no next.
	takeQuestions = `
	WITH due AS (
		SELECT id
		FROM   attempts
		WHERE  ask_at <= clock_timestamp()
		  AND  state IN ('unknown', 'released', 'cancelled')
		ORDER BY ask_at
		LIMIT  @limit
		FOR NO KEY UPDATE SKIP LOCKED
	), taken AS (
		UPDATE attempts a
		SET    asks = a.asks + 1,
		       ask_at = CASE WHEN a.asks + 1 < @most
		                     THEN clock_timestamp() + least(@pause::interval * (2 ^ least(a.asks, 20)), @longest::interval) END
		FROM   due
		WHERE  a.id = due.id
		RETURNING ` + attemptColumns + `, a.provider_ref, a.asks, a.ask_at IS NULL AS last
	)
	SELECT taken.*, j.owner, j.intent, j.version
	FROM   taken JOIN jobs j ON j.id = taken.job_id
	WHERE  j.intent IS NOT NULL`

	endQuestions = `
	UPDATE attempts
	SET    ask_at = NULL
	WHERE  id = @attempt`
)

// KeepRef keeps the provider's id of the work of an attempt, so that the provider
// can be asked how it stands should the attempt become unknown; not before pause.
func (s *Store) KeepRef(ctx context.Context, by job.Settlement, ref string, pause time.Duration) error {
	q := &query{sql: keepRef, args: pgx.NamedArgs{"attempt": by.Attempt, "fence": by.Fence, "ref": ref, "pause": pause}}
	if err := s.read(ctx, q); err != nil {
		return fmt.Errorf("keep the provider's id of attempt %s: %w", by.Attempt, err)
	}
	return nil
}

// TakeQuestions returns attempts whose provider is to be asked now, at most limit:
// unknown and released ones, and cancelled ones whose work is to be stopped. Each
// is given to one caller, and again after a pause that doubles from plan.First to
// plan.Longest, plan.Most times in all.
func (s *Store) TakeQuestions(ctx context.Context, plan job.AskPlan, limit int) ([]job.Question, error) {
	var taken []job.Question
	q := &query{sql: takeQuestions, args: pgx.NamedArgs{
		"limit": limit, "most": plan.Most, "pause": plan.First, "longest": plan.Longest,
	}, read: func(rows pgx.Rows) error {
		taken = taken[:0]
		for rows.Next() {
			var a job.Question
			var intent []byte
			fields := append(attemptFields(&a.Attempt), &a.Ref, &a.N, &a.Last, &a.Job.Owner, &intent, &a.Job.Version)
			if err := rows.Scan(fields...); err != nil {
				return err
			}
			a.Job.ID = a.Attempt.JobID
			if err := fill(&a.Job, intent, nil, nil); err != nil {
				return err
			}
			taken = append(taken, a)
		}
		return nil
	}}
	// Repeated after a broken connection it may skip a question; the next one comes.
	if err := s.read(ctx, q); err != nil {
		return nil, fmt.Errorf("look for attempts to ask about: %w", err)
	}
	return taken, nil
}

// EndQuestions asks no more about an attempt.
func (s *Store) EndQuestions(ctx context.Context, id job.AttemptID) error {
	if err := s.read(ctx, &query{sql: endQuestions, args: pgx.NamedArgs{"attempt": id}}); err != nil {
		return fmt.Errorf("end the questions about attempt %s: %w", id, err)
	}
	return nil
}
