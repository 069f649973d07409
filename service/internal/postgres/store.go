// Package postgres is the store of jobs and attempts, and the judge of every
// race between them: uniqueness, one open attempt, one winner and frozen results
// are constraints of its schema, and each move is one guarded statement.
//
// Rules that all statements keep: every transaction that moves a job or an
// attempt first locks the job's row without changing it (NO KEY UPDATE), so
// movers of one job queue up in order, its events are numbered in commit order,
// and nobody locks an attempt before its job. Every such transaction writes an
// event with its operation id; after a lost COMMIT that id is looked up, and the
// answer is never guessed. Times are the database's.
package postgres

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/interlock-harness/interlock/service/internal/job"
	"github.com/interlock-harness/interlock/service/internal/mutant"
)

// Failover is what the store asks about going on at another provider. Both
// calls are made inside a transaction that holds the job: they must be quick
// and must not use the store.
type Failover interface {
	// Allow returns why j may not go on at provider; nothing when it may.
	Allow(j job.Job, provider string) (reasons []string)
	// Next says what follows when the newest of attempts (oldest first) failed,
	// or passed its soft deadline in a job that races.
	Next(j job.Job, attempts []job.Attempt, f job.Failure) job.Decision
}

// Options of a store. The zero value works.
type Options struct {
	ApplicationName string        // as seen in pg_stat_activity; default interlock
	PoolSize        int           // connections; default 16
	Patience        time.Duration // how long one call tries to reach the database; default 5 s
	Mutant          mutant.Active // a deliberate fault; throw-away databases only
	Failover        Failover      // default: every provider is allowed, nothing follows a failure
	Log             *slog.Logger  // default: silent
	// Tracer sees every statement before it is sent, and may hold it back. With a
	// tracer statements travel one by one and not several in a flight, so that all
	// orders of the statements of several transactions can be played.
	Tracer pgx.QueryTracer
	// Together, where it is set beside Tracer, is asked when the tracer let a
	// statement go whether the next of its flight, sql, may travel with it.
	Together func(ctx context.Context, sql string) bool
	// Spans, where it is set, is told of each flight of statements, by their names;
	// what it returns is called when the flight has ended.
	Spans func(ctx context.Context, names string) (end func(error))
}

// Store reads and moves jobs in one PostgreSQL database. It is safe for
// concurrent use.
type Store struct {
	careless careless // of mutants
	pool     *pgxpool.Pool
	options  Options
	failover Failover
	mutant   mutant.Active
	log      *slog.Logger

	rewritten map[string]string // statements that the mutant changed
	names     map[string]string // of statements, by their clean text; for spans
	compiled  sync.Map          // SQL with named arguments -> *compiled
	queue     queueFloor
	recent    recentKeys
	reads     sharedReads
	groups    groups
	notifier  notifier
}

// New prepares a store for the database at url (empty: the PG* variables). It
// does not connect yet, except to make sure that a mutant runs on a throw-away
// database only.
func New(ctx context.Context, url string, o Options) (*Store, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("database address: %w", err)
	}
	if o.ApplicationName == "" {
		o.ApplicationName = "interlock"
	}
	if o.PoolSize == 0 {
		o.PoolSize = 16
	}
	if o.Patience == 0 {
		o.Patience = 5 * time.Second
	}
	if o.Failover == nil {
		o.Failover = noFailover{}
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	config.MaxConns = int32(o.PoolSize)
	config.ConnConfig.RuntimeParams["application_name"] = o.ApplicationName
	if config.ConnConfig.ConnectTimeout == 0 {
		config.ConnConfig.ConnectTimeout = o.Patience
	}
	config.AfterConnect = prepareConnection
	config.ConnConfig.Tracer = o.Tracer
	rewritten, err := o.Mutant.Rewrite(statements)
	if err != nil {
		return nil, err
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("database pool: %w", err)
	}
	s := &Store{pool: pool, options: o, failover: o.Failover, mutant: o.Mutant, log: o.Log, rewritten: rewritten}
	if o.Spans != nil {
		s.names = make(map[string]string, len(statements))
		for name, text := range statements {
			s.names[text] = name
		}
	}
	s.notifier.start(s)
	if o.Mutant.Name() != "" {
		if err := s.requireThrowAway(ctx); err != nil {
			s.Close()
			return nil, err
		}
	}
	return s, nil
}

// Close ends the notifier and closes the pool; it waits for calls under way.
func (s *Store) Close() {
	s.notifier.stop()
	s.pool.Close()
}

// Mutant is the deliberate fault that the store runs with.
func (s *Store) Mutant() mutant.Active { return s.mutant }

// prepareConnection gives up the rights of the login for those of
// interlock_service, where the migrations made that role and the login may
// assume it; CheckSafety says what the connection may do in the end. It also
// tells the planner that every statement of the service has its index: before
// the first ANALYZE it would think the tables too small for one, and keep that
// plan while they grow.
func prepareConnection(ctx context.Context, conn *pgx.Conn) error {
	_, err := conn.Exec(ctx, `
		SELECT set_config('enable_seqscan', 'off', false),
		       (SELECT set_config('role', rolname, false)
		        FROM   pg_roles
		        WHERE  rolname = 'interlock_service' AND pg_has_role(session_user, oid, 'member'))`)
	return err
}

// sql returns the statement to run for its clean text.
func (s *Store) sql(clean string) string {
	if changed, ok := s.rewritten[clean]; ok {
		return changed
	}
	return clean
}

type noFailover struct{}

func (noFailover) Allow(job.Job, string) []string                            { return nil }
func (noFailover) Next(job.Job, []job.Attempt, job.Failure) (d job.Decision) { return d }
