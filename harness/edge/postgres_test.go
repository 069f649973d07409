package edge_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/interlock-harness/interlock/harness/edge"
	"github.com/interlock-harness/interlock/harness/stage/pgserver"
)

// bench is a table behind a relay, and a way past the relay.
type bench struct {
	relay  *edge.Postgres
	pool   *pgxpool.Pool
	direct *pgx.Conn
}

func newBench(t *testing.T) *bench {
	t.Helper()
	ctx := bounded(t)
	server, err := postgres()
	if err != nil {
		t.Fatal(err)
	}
	relay, err := edge.NewPostgres(server.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := relay.Close(); err != nil {
			t.Error(err)
		}
	})
	config, err := pgxpool.ParseConfig(strings.Replace(server.URL("postgres"), server.Addr(), relay.Addr(), 1))
	if err != nil {
		t.Fatal(err)
	}
	config.MaxConns = 4
	b := &bench{relay: relay}
	if b.pool, err = pgxpool.NewWithConfig(ctx, config); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.pool.Close)
	if b.direct, err = pgx.Connect(ctx, server.URL("postgres")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.direct.Close(context.Background()) })
	if _, err := b.direct.Exec(ctx, "DROP TABLE IF EXISTS t; CREATE TABLE t (id uuid PRIMARY KEY, who text NOT NULL)"); err != nil {
		t.Fatal(err)
	}
	return b
}

// postgres is the one server of this package's tests.
var postgres = sync.OnceValues(func() (*pgserver.Server, error) {
	server, err := pgserver.Start(context.Background(), pgserver.Options{})
	if err == nil {
		stopPostgres = func() { _ = server.Close() }
	}
	return server, err
})

var stopPostgres = func() {}

// rows counts the rows of who, past the relay.
func (b *bench) rows(t *testing.T, who string) int {
	t.Helper()
	var n int
	if err := b.direct.QueryRow(bounded(t), "SELECT count(*) FROM t WHERE who = $1", who).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// writers are the ways in which a client may write one row in a transaction.
var writers = map[string]func(context.Context, *pgxpool.Pool, uuid.UUID, string) error{
	"begin, statement and commit one by one": func(ctx context.Context, pool *pgxpool.Pool, id uuid.UUID, who string) error {
		return pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
			_, err := tx.Exec(ctx, "INSERT INTO t (id, who) VALUES ($1, $2)", id, who)
			return err
		})
	},
	"all in one flight": func(ctx context.Context, pool *pgxpool.Pool, id uuid.UUID, who string) error {
		c, err := pool.Acquire(ctx)
		if err != nil {
			return err
		}
		defer c.Release()
		statement, err := c.Conn().Prepare(ctx, "insert", "INSERT INTO t (id, who) VALUES ($1, $2)")
		if err != nil {
			return err
		}
		flight := c.Conn().PgConn().StartPipeline(ctx)
		flight.SendQueryParams("begin isolation level read committed", nil, nil, nil, nil)
		flight.SendQueryStatement(statement, [][]byte{id[:], []byte(who)}, []int16{1, 0}, nil)
		flight.SendQueryParams("commit", nil, nil, nil, nil)
		if err := flight.Sync(); err != nil {
			_ = flight.Close()
			return err
		}
		for range 3 {
			results, err := flight.GetResults()
			if err == nil {
				_, err = results.(*pgconn.ResultReader).Close()
			}
			if err != nil {
				_ = flight.Close()
				return err
			}
		}
		return flight.Close()
	},
	"a statement without begin": func(ctx context.Context, pool *pgxpool.Pool, id uuid.UUID, who string) error {
		_, err := pool.Exec(ctx, "INSERT INTO t (id, who) VALUES ($1, $2)", id, who)
		return err
	},
	"a simple query without begin": func(ctx context.Context, pool *pgxpool.Pool, id uuid.UUID, who string) error {
		_, err := pool.Exec(ctx, fmt.Sprintf("INSERT INTO t (id, who) VALUES ('%s', '%s')", id, who))
		return err
	},
}

func TestRelayHitsExactlyTheVictim(t *testing.T) {
	b := newBench(t)
	for way, write := range writers {
		for _, c := range []struct {
			name string
			at   edge.Place
			do   edge.Deed
			kept int
		}{
			{"ack lost", edge.AfterCommit, edge.Close, 1},
			{"ack half", edge.AfterCommit, edge.Half, 1},
			{"ack reset", edge.AfterCommit, edge.RST, 1},
			{"commit lost", edge.BeforeCommit, edge.Close, 0},
			{"commit reset", edge.BeforeCommit, edge.RST, 0},
		} {
			t.Run(way+"/"+c.name, func(t *testing.T) {
				const rounds, others = 2, 3
				for round := range rounds {
					ctx, id := bounded(t), uuid.New()
					victim := "victim " + id.String()
					// By turns the victim is known by its text and by its binary id.
					value := victim
					if round%2 == 1 {
						value = id.String()
					}
					told := ""
					rule, err := b.relay.Arm(edge.Victim{Values: []string{value}}, c.at, c.do, func(e string) { told = e })
					if err != nil {
						t.Fatal(err)
					}
					var wg sync.WaitGroup
					for range others {
						wg.Go(func() {
							if err := write(ctx, b.pool, uuid.New(), "other "+id.String()[:8]); err != nil {
								t.Errorf("another transaction was hit: %v", err)
							}
						})
					}
					if err := write(ctx, b.pool, id, victim); err == nil {
						t.Error("the victim noticed nothing")
					}
					wg.Wait()
					if !rule.Fired() || told == "" || told != rule.Evidence() {
						t.Errorf("fired %v, evidence %q, told %q", rule.Fired(), rule.Evidence(), told)
					}
					if n := b.rows(t, victim); n != c.kept {
						t.Errorf("%d rows of the victim are kept, want %d", n, c.kept)
					}
					if n := b.rows(t, "other "+id.String()[:8]); n != others {
						t.Errorf("%d rows of others are kept, want %d", n, others)
					}
				}
			})
		}
	}
}

func TestRelayHoldsACommitAndLetsItGo(t *testing.T) {
	for _, at := range []edge.Place{edge.BeforeStatement, edge.BeforeCommit, edge.AfterCommit} {
		t.Run(string(at), func(t *testing.T) {
			b, ctx := newBench(t), bounded(t)
			rule, err := b.relay.Arm(edge.Victim{Values: []string{"held"}, Statement: "insert into t"}, at, edge.Hold, nil)
			if err != nil {
				t.Fatal(err)
			}
			done := make(chan error, 1)
			go func() { done <- writers["all in one flight"](ctx, b.pool, uuid.New(), "held") }()
			if err := rule.Await(ctx); err != nil {
				t.Fatal(err)
			}
			want := 0
			if at == edge.AfterCommit {
				want = 1
			}
			if n := b.rows(t, "held"); n != want {
				t.Errorf("%d rows while held, want %d", n, want)
			}
			rule.Release()
			if err := <-done; err != nil {
				t.Error(err)
			}
			if n := b.rows(t, "held"); n != 1 {
				t.Errorf("%d rows after the release, want 1", n)
			}
		})
	}
}

func TestRelayWaitsForTheNextWhenTheVictimRollsBack(t *testing.T) {
	b, ctx := newBench(t), bounded(t)
	rule, err := b.relay.Arm(edge.Victim{Values: []string{"twice"}}, edge.AfterCommit, edge.Close, nil)
	if err != nil {
		t.Fatal(err)
	}
	id := uuid.New()
	if _, err := b.direct.Exec(ctx, "INSERT INTO t VALUES ($1, 'there')", id); err != nil {
		t.Fatal(err)
	}
	for way, write := range writers {
		if err := write(ctx, b.pool, id, "twice"); err == nil || !strings.Contains(err.Error(), "23505") {
			t.Errorf("%s: error is %v, want a violation of the primary key", way, err)
		}
		if rule.Fired() {
			t.Fatalf("%s: fired on a transaction that did not commit", way)
		}
	}
	// Reading alone is no transaction that could be lost.
	if _, err := b.pool.Exec(ctx, "SELECT FROM t WHERE who = $1", "twice"); err != nil || rule.Fired() {
		t.Fatalf("a read: fired %v, %v", rule.Fired(), err)
	}
	if err := writers["all in one flight"](ctx, b.pool, uuid.New(), "twice"); err == nil || !rule.Fired() {
		t.Errorf("fired %v, error %v", rule.Fired(), err)
	}
	if n := b.rows(t, "twice"); n != 1 {
		t.Errorf("%d rows, want 1", n)
	}
}

func TestRelayRefusesARuleWithoutAVictim(t *testing.T) {
	relay, err := edge.NewPostgres("127.0.0.1:1")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = relay.Close() }()
	for _, v := range []edge.Victim{{}, {Values: []string{""}}} {
		if _, err := relay.Arm(v, edge.AfterCommit, edge.Close, nil); err == nil {
			t.Errorf("victim %+v was accepted", v)
		}
	}
	if _, err := relay.Arm(edge.Victim{Statement: "x"}, edge.BeforeCommit, edge.Half, nil); err == nil {
		t.Error("half a request was accepted")
	}
}

func TestRelayGoesOnWithoutADisarmedRule(t *testing.T) {
	b, ctx := newBench(t), bounded(t)
	rule, err := b.relay.Arm(edge.Victim{Values: []string{"spared"}}, edge.AfterCommit, edge.Close, nil)
	if err != nil {
		t.Fatal(err)
	}
	rule.Disarm()
	for way, write := range writers {
		if err := write(ctx, b.pool, uuid.New(), "spared"); err != nil {
			t.Errorf("%s: %v", way, err)
		}
	}
	waiting, cancel := context.WithTimeout(ctx, 10*time.Millisecond)
	defer cancel()
	if err := rule.Await(waiting); err == nil || rule.Fired() {
		t.Error("a disarmed rule fired")
	}
}

// Whoever sees a held COMMIT must be able to rely on it that the statements before
// it have run, though they travel in the same packet.
func TestAHeldCommitHasItsStatementsBehindIt(t *testing.T) {
	b := newBench(t)
	for way, write := range writers {
		if way == "a simple query without begin" { // statement and commit are one message
			continue
		}
		t.Run(way, func(t *testing.T) {
			for range 20 {
				ctx, id := bounded(t), uuid.New()
				rule, err := b.relay.Arm(edge.Victim{Values: []string{id.String()}}, edge.BeforeCommit, edge.Hold, nil)
				if err != nil {
					t.Fatal(err)
				}
				done := make(chan error, 1)
				go func() { done <- write(ctx, b.pool, id, "held") }()
				if err := rule.Await(ctx); err != nil {
					t.Fatal(err)
				}
				// Only a row that is there can stand in the way of another.
				var blocked bool
				if _, err := b.direct.Exec(ctx, "SET lock_timeout = '1ms'"); err != nil {
					t.Fatal(err)
				}
				_, err = b.direct.Exec(ctx, "INSERT INTO t (id, who) VALUES ($1, 'rival')", id)
				var refused *pgconn.PgError
				blocked = errors.As(err, &refused) && refused.Code == "55P03"
				if !blocked {
					t.Errorf("backend %d is held before its statement has run: a rival got %v", rule.Backend(), err)
				}
				rule.Release()
				if err := <-done; err != nil && blocked {
					t.Error(err)
				}
			}
		})
	}
}
