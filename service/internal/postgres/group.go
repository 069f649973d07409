package postgres

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

// Bounds of submits that travel together.
const (
	mostFlights  = 4  // submits or groups of them in the air; what comes meanwhile waits and is grouped
	mostGrouped  = 64 // submits in one statement
	toShareAWait = 50 * time.Millisecond
)

// submitJobs is submitJob for several at once: each argument is an array. It has a
// row for each job that is new; whose key is taken is missing.
const submitJobs = `
	WITH asked AS MATERIALIZED (
		SELECT *
		FROM   unnest(@job::uuid[], @owner::text[], @key::text[], @fingerprint::bytea[], @algorithm::smallint[], @request::bytea[],
		              @intent::json[], @attempt::uuid[], @provider::text[], @deadline_ms::bigint[], @actor::text[], @op::uuid[])
		       WITH ORDINALITY u (job, owner, key, fingerprint, algorithm, request, intent, attempt, provider, deadline_ms, actor, op, i)
	), new_job AS (
		INSERT INTO jobs (id, owner, key, fingerprint, fingerprint_algorithm, request, intent)
		SELECT job, owner, key, fingerprint, algorithm, request, intent
		FROM   asked
		ORDER  BY owner, key, i -- one order for all groups, so that two of them never wait for each other
		ON CONFLICT ON CONSTRAINT jobs_owner_key DO NOTHING -- the key is taken, maybe by one of us: nothing below happens for it
		RETURNING id, created_at
	), first_attempt AS (
		INSERT INTO attempts (id, job_id, n, provider, state, deadline_ms)
		SELECT a.attempt, a.job, 1, a.provider, 'starting', a.deadline_ms
		FROM   new_job JOIN asked a ON a.job = new_job.id
		ORDER  BY a.i -- who came first is claimed first
		RETURNING id, job_id
	), told AS (
		INSERT INTO attempt_events (job_id, attempt_id, type, to_state, actor, operation_id)
		SELECT a.job, NULL::uuid, 'job.submitted', NULL, a.actor, a.op FROM new_job JOIN asked a ON a.job = new_job.id
		UNION ALL
		SELECT a.job, f.id, 'attempt.moved', 'starting', a.actor, a.op FROM first_attempt f JOIN asked a ON a.job = f.job_id
		RETURNING id, job_id
	)
	SELECT a.i, new_job.created_at, max(told.id)
	FROM   new_job JOIN asked a ON a.job = new_job.id JOIN told ON told.job_id = new_job.id
	GROUP  BY a.i, new_job.created_at`

// shareNoLongWait has the server refuse a group that waits for a lock: for a key
// that somebody else has not committed. Only the submit of that key may wait.
const shareNoLongWait = `SELECT set_config('lock_timeout', '50ms', true)`

// inserted is what became of the insert of one submit.
type inserted struct {
	isNew     bool // false: the key is taken
	createdAt time.Time
	lastEvent int64
}

// groups are the submits of one process that wait until one that is in the air
// has landed, and then travel as one statement in one commit.
type groups struct {
	mu      sync.Mutex
	flights int
	waiting []*waiting
}

// waiting is one submit of a group. done is closed when the fields below it are
// filled.
type waiting struct {
	ctx  context.Context // of its caller: a submit that travels alone ends with it
	args pgx.NamedArgs

	done    chan struct{}
	got     inserted
	err     error
	refused bool // the group was: nothing was stored, and this submit goes on alone
}

// insert stores one submit with submitJob, or among others with submitJobs. An
// error of type *wireError leaves open whether it was stored, for each of a group.
//
// A submit is never held up by others for longer than toShareAWait: a flight that
// takes longer no longer counts, and a group that meets a lock is refused and its
// submits go on alone.
func (s *Store) insert(ctx context.Context, args pgx.NamedArgs) (inserted, error) {
	if s.options.Tracer != nil {
		return s.insertAlone(ctx, args)
	}
	w := &waiting{ctx: ctx, args: args, done: make(chan struct{})}
	if s.groups.takeOff(w) {
		defer s.onLanding()()
		return s.insertAlone(ctx, args)
	}
	select {
	case <-ctx.Done():
		return inserted{}, &wireError{ctx.Err()}
	case <-w.done:
	}
	if w.refused {
		return s.insertAlone(ctx, args)
	}
	return w.got, w.err
}

func (s *Store) insertAlone(ctx context.Context, args pgx.NamedArgs) (got inserted, err error) {
	q := &query{sql: submitJob, args: args, read: one(&got.createdAt, &got.lastEvent)}
	err = s.flight(ctx, q)
	got.isNew = q.rows == 1
	return got, err
}

// takeOff reports whether w may travel at once, and alone; else it waits.
func (g *groups) takeOff(w *waiting) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.flights < mostFlights {
		g.flights++
		return true
	}
	g.waiting = append(g.waiting, w)
	return false
}

// onLanding returns what is to be called when a flight has ended: those that wait
// travel next.
func (s *Store) onLanding() func() {
	return turn(func() func() {
		next := s.groups.board()
		if len(next) == 0 {
			return nil
		}
		return func() { s.insertGroup(next) }
	})
}

// turn returns what is to be called when something has ended for which others wait:
// what next returns runs, in a turn of its own, until next returns nil. It happens
// by itself when the end takes longer than toShareAWait.
func turn(next func() (run func())) (ended func()) {
	once := sync.OnceFunc(func() {
		run := next()
		if run == nil {
			return
		}
		go func() {
			defer turn(next)()
			run()
		}()
	})
	timer := time.AfterFunc(toShareAWait, once)
	return func() { timer.Stop(); once() }
}

// board takes the next group. It is empty when nobody waits: there is one flight
// less then.
func (g *groups) board() []*waiting {
	g.mu.Lock()
	defer g.mu.Unlock()
	n := min(len(g.waiting), mostGrouped)
	if n == 0 {
		g.flights--
		return nil
	}
	group := g.waiting[:n:n]
	g.waiting = g.waiting[n:]
	return group
}

// insertGroup stores the submits of a group and tells each what became of it. It
// does not depend on any one caller's patience.
func (s *Store) insertGroup(group []*waiting) {
	var err error
	if len(group) == 1 {
		w := group[0]
		w.got, w.err = s.insertAlone(w.ctx, w.args)
	} else if err = s.flightOf(group); err != nil {
		var lost *wireError
		for _, w := range group {
			w.got, w.err, w.refused = inserted{}, err, !errors.As(err, &lost)
		}
	}
	for _, w := range group {
		close(w.done)
	}
}

// flightOf sends a group as one statement.
func (s *Store) flightOf(group []*waiting) (err error) {
	ctx, cancel := context.WithTimeout(context.Background(), s.options.Patience)
	defer cancel()
	if s.options.Spans != nil { // one in the trace of each
		for _, w := range group {
			end := s.options.Spans(w.ctx, "submit-jobs")
			defer func() { end(err) }()
		}
	}
	args := make(pgx.NamedArgs, len(group[0].args))
	for name := range group[0].args {
		column := make([]any, len(group))
		for i, w := range group {
			column[i] = w.args[name]
		}
		args[name] = column
	}
	insert := &query{sql: submitJobs, args: args, read: func(rows pgx.Rows) error {
		for rows.Next() {
			var i int
			var got inserted
			if err := rows.Scan(&i, &got.createdAt, &got.lastEvent); err != nil {
				return err
			}
			got.isNew = true
			group[i-1].got = got
		}
		return nil
	}}
	c, err := s.acquire(ctx)
	if err != nil {
		return err
	}
	defer c.Release()
	if err := s.prepareForGroups(ctx, c.Conn()); err != nil {
		return err
	}
	return s.roundTrip(ctx, c.Conn(), trip{begin: true, commit: true}, &query{sql: shareNoLongWait, args: pgx.NamedArgs{}}, insert)
}

// prepareForGroups prepares submitJobs, once on each connection. That needs locks
// of the tables already, and may not wait for them longer than the statement.
func (s *Store) prepareForGroups(ctx context.Context, conn *pgx.Conn) error {
	about := conn.PgConn().CustomData()
	if about["submit-jobs"] != nil {
		return nil
	}
	many, err := s.compile(s.sql(submitJobs))
	if err != nil {
		return err
	}
	tx, err := conn.Begin(ctx)
	if err != nil {
		return wire(err)
	}
	defer func() { _ = tx.Rollback(ctx) }() // after a commit it does nothing
	if _, err := tx.Exec(ctx, shareNoLongWait); err != nil {
		return wire(err)
	}
	if about["submit-jobs"], err = tx.Prepare(ctx, many.name, many.text); err != nil {
		delete(about, "submit-jobs")
		return wire(err)
	}
	return wire(tx.Commit(ctx))
}
