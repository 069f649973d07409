package postgres

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/interlock-harness/interlock/service/internal/job"
	"github.com/interlock-harness/interlock/service/internal/mutant"
)

// careless is what the mutants of the store do and remember. With the clean
// store each hook returns at once and changes nothing.
type careless struct {
	gaveUp atomic.Bool // PoolNeverRecovers

	mu   sync.Mutex
	held map[job.AttemptID]*pgxpool.Conn // CallInsideTransaction
}

var errPoolGaveUp = errors.New("the pool has given up")

// look is what a submit found that looked before it wrote.
type look struct{ job *stored }

func (l *look) found() bool { return l != nil && l.job != nil }

const lockKey = `SELECT pg_advisory_xact_lock(hashtextextended(@owner::text || ' ' || @key::text, 0))`

// lookFirst looks for the key of a submit before anything is written.
func (s *Store) lookFirst(ctx context.Context, in job.Submission) (*look, error) {
	args := pgx.NamedArgs{"owner": in.Owner, "key": in.Key}
	var jobs []stored
	find := &query{sql: jobByKey, args: args, read: readJobs(&jobs)}
	var err error
	switch {
	case s.mutant.Is(mutant.AdvisoryLockTooShort): // it ends with this transaction, before the insert
		err = s.retry(ctx, func(c *pgx.Conn) error {
			return s.roundTrip(ctx, c, trip{begin: true, commit: true}, &query{sql: lockKey, args: args}, find)
		})
	case s.mutant.Is(mutant.TakenKeyNotReadAgain):
		err = s.read(ctx, find)
	default:
		return nil, nil
	}
	if err != nil || len(jobs) == 0 {
		return &look{}, toJob(err)
	}
	return &look{&jobs[0]}, nil
}

// storedUnder is the job of a key that is taken.
func (s *Store) storedUnder(ctx context.Context, in job.Submission, before *look) (stored, error) {
	switch {
	case before.found():
		return *before.job, nil
	case s.mutant.Is(mutant.TakenKeyNotReadAgain):
		return stored{}, &job.KeyConflictError{}
	}
	return s.oneStored(ctx, jobByKey, pgx.NamedArgs{"owner": in.Owner, "key": in.Key})
}

const firstAttemptApart = `
	WITH first_attempt AS (
		INSERT INTO attempts (id, job_id, n, provider, state, deadline_ms)
		SELECT @attempt, id, 1, @provider, 'starting', @deadline_ms
		FROM   jobs
		WHERE  owner = @owner AND key = @key
		RETURNING id, job_id
	)
	INSERT INTO attempt_events (job_id, attempt_id, type, to_state, actor, operation_id)
	SELECT job_id, id, 'attempt.moved', 'starting', @actor, @op FROM first_attempt`

// addAttemptApart stores the first attempt of a job in a transaction of its own,
// and does not care whether it got there.
func (s *Store) addAttemptApart(ctx context.Context, args pgx.NamedArgs) {
	if s.mutant.Is(mutant.JobAndAttemptApart) {
		_ = s.flight(ctx, &query{sql: firstAttemptApart, args: args})
	}
}

// toGetHold bounds how long a claim waits for a connection to keep.
const toGetHold = 50 * time.Millisecond

// keep opens a transaction for each claimed attempt, for as long as its provider
// is called.
func (c *careless) keep(ctx context.Context, s *Store, claimed []job.Claimed) {
	if !s.mutant.Is(mutant.CallInsideTransaction) {
		return
	}
	for _, a := range claimed {
		waiting, cancel := context.WithTimeout(ctx, toGetHold)
		conn, err := s.pool.Acquire(waiting)
		cancel()
		if err != nil {
			continue
		}
		_, _ = conn.Exec(ctx, beginText)
		c.mu.Lock()
		if c.held == nil {
			c.held = map[job.AttemptID]*pgxpool.Conn{}
		}
		c.held[a.Attempt.ID] = conn
		c.mu.Unlock()
	}
}

func (c *careless) letGo(id job.AttemptID) {
	c.mu.Lock()
	conn := c.held[id]
	delete(c.held, id)
	c.mu.Unlock()
	if conn != nil {
		_, _ = conn.Exec(context.Background(), "rollback")
		conn.Release()
	}
}

// meant is the number of the attempt that a resolution of attempt n is about.
func (s *Store) meant(h *held, n int) int {
	if !s.mutant.Is(mutant.ResolveByJob) {
		return n
	}
	for _, a := range h.attempts {
		if !a.State.Terminal() {
			return a.N
		}
	}
	return n
}
