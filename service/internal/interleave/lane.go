package interleave

import (
	"context"
	"errors"
	"fmt"
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
	sweepEvery = 250
)

// lane is a database of its own with a store on it, where one schedule after the
// other is played.
type lane struct {
	store  *postgres.Store
	gate   *gate
	look   *pgx.Conn // the scheduler's own: sets the scene, asks who waits, reads what came of it
	played int
}

// openLane makes the empty database at url a lane: it is marked as thrown away,
// migrated, and the schema's part of the mutant is applied.
func openLane(ctx context.Context, url string, fault mutant.Active) (_ *lane, err error) {
	ctx, cancel := context.WithTimeout(ctx, toPrepare)
	defer cancel()
	l := &lane{gate: &gate{}}
	defer func() {
		if err != nil {
			l.close()
		}
	}()
	if l.look, err = pgx.Connect(ctx, url); err != nil {
		return nil, err
	}
	if err := mark(ctx, l.look); err != nil {
		return nil, err
	}
	plain, err := postgres.New(ctx, url, postgres.Options{Mutant: fault, PoolSize: 1})
	if err != nil {
		return nil, err
	}
	err = plain.Migrate(ctx)
	plain.Close()
	if err != nil {
		return nil, err
	}
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, err
	}
	size := maxSessions + 1 // one for the notifier
	settings := "?"
	if len(config.RuntimeParams) > 0 || containsQuestion(url) {
		settings = "&"
	}
	settings += fmt.Sprintf("pool_min_conns=%d&options=-c%%20deadlock_timeout%%3D%d%%20-c%%20synchronous_commit%%3Doff", size, toNotice.Milliseconds())
	l.store, err = postgres.New(ctx, url+settings, postgres.Options{
		ApplicationName: application, PoolSize: size, Patience: toPlay, Mutant: fault, Tracer: l.gate,
	})
	if err != nil {
		return nil, err
	}
	return l, l.fill(ctx, size)
}

// toNotice is how soon PostgreSQL looks for a deadlock.
const toNotice = 5 * time.Millisecond

const application = "interlock interleave"

func containsQuestion(url string) bool {
	for _, r := range url {
		if r == '?' {
			return true
		}
	}
	return false
}

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

func (l *lane) close() {
	if l.store != nil {
		l.store.Close()
	}
	if l.look != nil {
		ctx, cancel := context.WithTimeout(context.Background(), toPrepare)
		defer cancel()
		_ = l.look.Close(ctx)
	}
}

const setScene = `
	WITH placed AS (
		INSERT INTO jobs (id, owner, key, fingerprint, fingerprint_algorithm, request, intent)
		VALUES ($1, $2, $3, $4, 1, $5, $6)
		RETURNING xmin::text AS xmin
	), tried AS (
		INSERT INTO attempts (id, job_id, n, provider, state, worker, lease_until, deadline_ms, deadline_at, since, ended_at)
		SELECT id, $1, n, 'p', state,
		       CASE WHEN state <> 'starting' THEN 'before' END,
		       CASE WHEN state = 'running' THEN clock_timestamp() - interval '1 hour' END,
		       60000, CASE WHEN state <> 'starting' THEN clock_timestamp() - interval '1 hour' END,
		       clock_timestamp() - interval '1 hour',
		       CASE WHEN state = 'failed' THEN clock_timestamp() END
		FROM   unnest($7::uuid[], $8::text[]) WITH ORDINALITY AS a(id, state, n)
		RETURNING n, fence
	)
	SELECT (SELECT xmin FROM placed), ARRAY(SELECT fence FROM tried ORDER BY n)`

// scene makes the rows of one schedule, in one statement.
func (l *lane) scene(ctx context.Context, set Set) (*world, error) {
	id := uuid.Must(uuid.NewV7()).String()
	w := &world{set: set, key: job.Key(id)}
	states := begun[set.Situation]
	if states == nil {
		return w, nil
	}
	w.job = job.ID(id)
	ids, names := make([]string, len(states)), make([]string, len(states))
	for i, state := range states {
		ids[i], names[i] = uuid.Must(uuid.NewV7()).String(), string(state)
		w.attempts = append(w.attempts, job.Attempt{ID: job.AttemptID(ids[i]), JobID: w.job, N: i + 1, Provider: "p", State: state})
	}
	first := submission(w, 0)
	var fences []int64
	err := l.look.QueryRow(ctx, setScene, w.job, first.Owner, w.key, first.Fingerprint[:], first.RawBody, first.Intent, ids, names).
		Scan(&w.xmin, &fences)
	if err != nil {
		return nil, fmt.Errorf("set the scene: %w", err)
	}
	for i := range w.attempts {
		w.attempts[i].Fence = fences[i]
	}
	return w, nil
}

// sweep cuts the tables short now and then, which the schedules left empty.
func (l *lane) sweep(ctx context.Context) error {
	if l.played++; l.played%sweepEvery != 0 {
		return nil
	}
	_, err := l.look.Exec(ctx, `TRUNCATE jobs, attempts, attempt_events, races`)
	return err
}
