package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/interlock-harness/interlock/service/internal/job"
	"github.com/interlock-harness/interlock/service/internal/mutant"
)

// Waits between two tries to reach the database.
const (
	firstPause = 5 * time.Millisecond
	lastPause  = 250 * time.Millisecond
)

// operation names one transaction, for its events and for looking it up after a
// lost COMMIT.
type operation = uuid.UUID

func newOperation() operation { return uuid.Must(uuid.NewV7()) }

// operationOf gives the same operation for the same words: a worker that repeats
// a settlement after an outage finds its own first try.
func operationOf(words string) operation { return uuid.NewSHA1(uuid.Nil, []byte(words)) }

// tx is one transaction on one connection. BEGIN travels with the first queries.
type tx struct {
	store *Store
	conn  *pgx.Conn
	op    operation
	begun bool
}

// run sends the queries in one round trip.
func (t *tx) run(ctx context.Context, queries ...*query) error {
	begin := !t.begun
	t.begun = true
	return t.store.roundTrip(ctx, t.conn, trip{begin: begin}, queries...)
}

// transact runs work in one transaction under operation op of job id, and
// returns nil when it is committed.
//
// It runs work again, from its start, when the server rolled back for a
// deadlock or the like, or when the connection was lost before COMMIT was sent.
// A connection lost at COMMIT says nothing: then the operation id is looked up
// under the job's lock, for which a transaction that is still committing makes
// us wait. Found: done. Not found: it never happened, and the same guarded work
// is done again. When the database cannot be reached for that, the answer is
// job.ErrUnavailable: all or nothing was stored.
//
// An error of work rolls back and is returned as it is, after toJob.
func (s *Store) transact(ctx context.Context, id job.ID, op operation, work func(context.Context, *tx) error) error {
	ctx, cancel := context.WithTimeout(ctx, s.options.Patience)
	defer cancel()
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		inDoubt, err := s.once(ctx, op, work)
		if err == nil {
			return nil
		}
		if inDoubt {
			if s.mutant.Is(mutant.LostCommitIsSuccess) {
				return nil
			}
			if !s.mutant.Is(mutant.LostCommitIsRepeated) && !s.mutant.Is(mutant.LostStartIsNew) {
				done, err := s.happened(context.WithoutCancel(ctx), id, op)
				if err != nil {
					return fmt.Errorf("%w: after a lost commit: %w", job.ErrUnavailable, err)
				}
				if done {
					return nil
				}
			}
		} else if lost := new(wireError); !errors.As(err, &lost) && !s.again(err) {
			return toJob(err)
		}
		select {
		case <-ctx.Done():
			return toJob(err)
		case <-time.After(pause):
		}
	}
}

// once runs work and COMMIT once. inDoubt means that COMMIT was sent and nobody
// said what became of it.
func (s *Store) once(ctx context.Context, op operation, work func(context.Context, *tx) error) (inDoubt bool, err error) {
	c, err := s.acquire(ctx)
	if err != nil {
		return false, err
	}
	defer c.Release()
	t := &tx{store: s, conn: c.Conn(), op: op}
	if err := work(ctx, t); err != nil {
		t.rollback(ctx)
		return false, err
	}
	if !t.begun {
		return false, nil
	}
	tag, err := t.conn.Exec(ctx, "commit")
	if err == nil && tag.String() != "COMMIT" {
		return false, errRolledBack
	}
	if err != nil {
		err = wire(err)
		var lost *wireError
		return errors.As(err, &lost), err
	}
	return false, nil
}

// rollback leaves the connection fit for the next user; a broken one is thrown
// away by the pool.
func (t *tx) rollback(ctx context.Context) {
	if t.conn.PgConn().TxStatus() == 'I' || t.conn.IsClosed() {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	_, _ = t.conn.Exec(ctx, "rollback")
}

func (s *Store) acquire(ctx context.Context) (*pgxpool.Conn, error) {
	if s.careless.gaveUp.Load() {
		return nil, &wireError{errPoolGaveUp}
	}
	c, err := s.pool.Acquire(ctx)
	if err != nil {
		s.careless.gaveUp.Store(s.mutant.Is(mutant.PoolNeverRecovers))
		return nil, &wireError{err}
	}
	return c, nil
}

const (
	awaitJob = `
	SELECT 1
	FROM   jobs
	WHERE  id = @job
	FOR NO KEY UPDATE` // waits for whoever is still committing a move of this job

	findOperation = `
	SELECT 1
	FROM   attempt_events
	WHERE  job_id = @job
	  AND  operation_id = @op
	LIMIT  1`
)

// happened reports whether operation op of job id was committed. It tries until
// the database says so or the store's patience ends.
func (s *Store) happened(ctx context.Context, id job.ID, op operation) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, s.options.Patience)
	defer cancel()
	find := &query{sql: findOperation, args: pgx.NamedArgs{"job": id, "op": op}}
	err := s.retry(ctx, func(c *pgx.Conn) error {
		return s.roundTrip(ctx, c, trip{begin: true, commit: true},
			&query{sql: awaitJob, args: pgx.NamedArgs{"job": id}}, find)
	})
	return find.rows > 0, err
}

// read runs queries that change nothing, each on its own snapshot, in one round
// trip. A broken connection is no harm: they are sent again on another.
func (s *Store) read(ctx context.Context, queries ...*query) error {
	ctx, cancel := context.WithTimeout(ctx, s.options.Patience)
	defer cancel()
	err := s.retry(ctx, func(c *pgx.Conn) error {
		return s.roundTrip(ctx, c, trip{}, queries...)
	})
	return toJob(err)
}

// retry calls do on fresh connections for as long as the wire fails and ctx
// lasts. do must be harmless to repeat.
func (s *Store) retry(ctx context.Context, do func(*pgx.Conn) error) error {
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		err := func() error {
			c, err := s.acquire(ctx)
			if err != nil {
				return err
			}
			defer c.Release()
			return do(c.Conn())
		}()
		var lost *wireError
		if !errors.As(err, &lost) && !s.again(err) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(pause):
		}
	}
}
