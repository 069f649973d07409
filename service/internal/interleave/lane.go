package interleave

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/interlock-harness/interlock/service/internal/job"
	"github.com/interlock-harness/interlock/service/internal/mutant"
	"github.com/interlock-harness/interlock/service/internal/postgres"
)

const (
	// toPrepare bounds making one lane: migrations, connections.
	toPrepare = 60 * time.Second
	// toPlay bounds one schedule, and its waits for PostgreSQL.
	toPlay = 30 * time.Second
	// sweepEvery is after how many schedules the emptied tables are cut short.
	sweepEvery = 500
)

// lane is a database of its own with a store on it, where one schedule after the
// other is played.
type lane struct {
	store  *postgres.Store
	gate   *gate
	look   *pgx.Conn // the scheduler's own: sets the scene, asks who waits, reads what came of it
	staged *world    // rows that are there for the next schedule already
	mine   bool      // the database was empty when the lane began
	played int
}

// openLane makes the empty database at address a lane: it is marked as thrown away,
// migrated, and the schema's part of the mutant is applied.
func openLane(ctx context.Context, address string, fault mutant.Active) (_ *lane, err error) {
	ctx, cancel := context.WithTimeout(ctx, toPrepare)
	defer cancel()
	l := &lane{gate: &gate{}}
	defer func() {
		if err != nil {
			l.close()
		}
	}()
	if l.look, err = pgx.Connect(ctx, address); err != nil {
		return nil, err
	}
	if err := mark(ctx, l.look); err != nil {
		return nil, err
	}
	l.mine = true
	plain, err := postgres.New(ctx, address, postgres.Options{Mutant: fault, PoolSize: 1})
	if err != nil {
		return nil, err
	}
	err = plain.Migrate(ctx)
	plain.Close()
	if err != nil {
		return nil, err
	}
	config, err := pgx.ParseConfig(address)
	if err != nil {
		return nil, err
	}
	size := maxSessions + 1 // one for the notifier
	settings := "?"
	if len(config.RuntimeParams) > 0 || strings.Contains(address, "?") {
		settings = "&"
	}
	settings += fmt.Sprintf("pool_min_conns=%d&options=", size) + strings.ReplaceAll(url.QueryEscape(
		fmt.Sprintf("-c deadlock_timeout=%d -c synchronous_commit=off -c plan_cache_mode=force_generic_plan", toNotice.Milliseconds())), "+", "%20")
	l.store, err = postgres.New(ctx, address+settings, postgres.Options{
		ApplicationName: application, PoolSize: size, Patience: toPlay, Mutant: fault, Tracer: l.gate, Together: l.gate.together,
	})
	if err != nil {
		return nil, err
	}
	return l, l.fill(ctx, size)
}

// toNotice is how soon PostgreSQL looks for a deadlock.
const toNotice = 5 * time.Millisecond

const application = "interlock interleave"

// errInUse keeps the explorer away from data that somebody needs.
var errInUse = errors.New("the database holds tables: the explorer wants an empty one, which it fills and throws away")

// mark looks that the database is empty and marks it, so that a mutant may run
// on it. The look-out connection deletes what the service may not.
func mark(ctx context.Context, conn *pgx.Conn) error {
	var tables int
	if err := conn.QueryRow(ctx, `SELECT count(*) FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r'`).Scan(&tables); err != nil {
		return err
	}
	if tables > 0 {
		return errInUse
	}
	_, err := conn.Exec(ctx, `
		CREATE TABLE interlock_stage (marker text PRIMARY KEY);
		INSERT INTO interlock_stage VALUES ('throw-away');
		GRANT SELECT ON interlock_stage TO PUBLIC;
		SET synchronous_commit = off;
		SET plan_cache_mode = force_generic_plan;
		SET session_replication_role = replica`) // no trigger keeps the clean-up from a finished job
	return err
}

// fill waits until the pool has its connections: one that was made inside a
// schedule would be a statement more. Then the gate closes.
func (l *lane) fill(ctx context.Context, size int) error {
	for {
		var n int
		err := l.look.QueryRow(ctx, `SELECT count(*) FROM pg_stat_activity
			WHERE datname = current_database() AND application_name = $1 AND state = 'idle'`, application).Scan(&n)
		if err != nil {
			return err
		}
		if n >= size {
			l.gate.closed.Store(true)
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%d of %d connections came: %w", n, size, ctx.Err())
		case <-time.After(time.Millisecond):
		}
	}
}

// clear drops all that the lane made in its database, so that another one may
// begin there.
const clear = `DO $$
DECLARE ours text := current_schema();
BEGIN
	EXECUTE format('DROP SCHEMA %I CASCADE', ours);
	EXECUTE format('CREATE SCHEMA %I', ours);
END $$`

// close leaves an empty database.
func (l *lane) close() {
	if l.store != nil {
		l.store.Close()
	}
	if l.look == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), toPrepare)
	defer cancel()
	if l.mine {
		_, _ = l.look.Exec(ctx, clear)
	}
	_ = l.look.Close(ctx)
}

const setScene = `
	WITH placed AS (
		INSERT INTO jobs (id, owner, key, fingerprint, fingerprint_algorithm, request, intent)
		VALUES ($1, $2, $3, $4, 1, $5, $6)
		RETURNING xmin::text AS xmin
	), tried AS (
		INSERT INTO attempts (id, job_id, n, provider, state, worker, lease_until, deadline_ms, deadline_at, since, ended_at)
		SELECT id, $1, n, 'p', state,
		       CASE WHEN state <> 'starting' THEN '` + lastWorker + `' END,
		       CASE WHEN state = 'running' THEN clock_timestamp() - interval '1 hour' END,
		       60000, CASE WHEN state <> 'starting' THEN clock_timestamp() - interval '1 hour' END,
		       clock_timestamp() - interval '1 hour',
		       CASE WHEN state = 'failed' THEN clock_timestamp() END
		FROM   unnest($7::uuid[], $8::text[]) WITH ORDINALITY AS a(id, state, n)
		RETURNING n, fence
	)
	SELECT (SELECT xmin FROM placed), ARRAY(SELECT fence FROM tried ORDER BY n)`

// cast invents the job and the attempts of one schedule.
func cast(set Set) *world {
	id := uuid.Must(uuid.NewV7()).String()
	w := &world{set: set, key: job.Key(id)}
	for i, state := range begun[set.Situation] {
		w.job = job.ID(id)
		attempt := job.AttemptID(uuid.Must(uuid.NewV7()).String())
		w.attempts = append(w.attempts, job.Attempt{ID: attempt, JobID: w.job, N: i + 1, Provider: "p", State: state})
	}
	return w
}

// queue adds the statement that makes the rows of w; nothing where there are none.
func (w *world) queue(b *pgx.Batch) {
	if len(w.attempts) == 0 {
		return
	}
	ids, names := make([]string, len(w.attempts)), make([]string, len(w.attempts))
	for i, a := range w.attempts {
		ids[i], names[i] = string(a.ID), string(a.State)
	}
	first := submission(w, 0)
	b.Queue(setScene, w.job, first.Owner, w.key, first.Fingerprint[:], first.RawBody, first.Intent, ids, names).QueryRow(func(row pgx.Row) error {
		var fences []int64
		if err := row.Scan(&w.xmin, &fences); err != nil {
			return err
		}
		for i := range w.attempts {
			w.attempts[i].Fence = fences[i]
		}
		return nil
	})
}

// scene returns the world of one schedule, with its rows in the database.
func (l *lane) scene(ctx context.Context, set Set) (*world, error) {
	w := l.staged
	l.staged = nil
	if w != nil && w.set.Situation == set.Situation {
		w.set = set
		return w, nil
	}
	batch := &pgx.Batch{}
	if w != nil { // the rows are another situation's
		batch.Queue(takeAll)
	}
	w = cast(set)
	w.queue(batch)
	if err := l.look.SendBatch(ctx, batch).Close(); err != nil {
		return nil, fmt.Errorf("set the scene: %w", err)
	}
	return w, nil
}

// sweep cuts the tables short, which the schedules left empty.
func (l *lane) sweep(ctx context.Context) error {
	_, err := l.look.Exec(ctx, `TRUNCATE jobs, attempts, attempt_events, races`)
	return err
}
