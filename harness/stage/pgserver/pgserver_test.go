package pgserver_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"go.uber.org/goleak"

	"github.com/interlock-harness/interlock/harness/stage/pgserver"
	"github.com/interlock-harness/interlock/harness/stage/scratch"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const toFinish = 60 * time.Second

func bounded(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), toFinish)
	t.Cleanup(cancel)
	return ctx
}

func start(t *testing.T, o pgserver.Options) *pgserver.Server {
	t.Helper()
	s, err := pgserver.Start(bounded(t), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// ask runs one query that returns one value.
func ask[T any](t *testing.T, s *pgserver.Server, database, query string) T {
	t.Helper()
	ctx := bounded(t)
	conn, err := pgx.Connect(ctx, s.URL(database))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(ctx) }()
	var v T
	if err := conn.QueryRow(ctx, query).Scan(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

// run runs statements that return nothing.
func run(t *testing.T, s *pgserver.Server, database string, statements ...string) {
	t.Helper()
	ctx := bounded(t)
	conn, err := pgx.Connect(ctx, s.URL(database))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(ctx) }()
	for _, statement := range statements {
		if _, err := conn.Exec(ctx, statement); err != nil {
			t.Fatal(err)
		}
	}
}

func TestPrivateServerListensOnLoopbackOnly(t *testing.T) {
	s := start(t, pgserver.Options{})
	if got := ask[string](t, s, "postgres", "SHOW listen_addresses"); got != "127.0.0.1" {
		t.Errorf("listen_addresses is %q", got)
	}
	if got := ask[string](t, s, "postgres", "SHOW fsync"); got != "off" {
		t.Errorf("fsync is %q on a throw-away cluster", got)
	}
	if !strings.HasPrefix(s.Addr(), "127.0.0.1:") || !s.Private() {
		t.Errorf("addr %q, private %v", s.Addr(), s.Private())
	}
	// Without the password nobody gets in over TCP.
	conn, err := pgx.Connect(bounded(t), "postgres://postgres:wrong@"+s.Addr()+"/postgres?sslmode=disable")
	if err == nil {
		_ = conn.Close(bounded(t))
		t.Error("a wrong password was accepted")
	}
}

func TestDurableServerKeepsFsyncOn(t *testing.T) {
	s := start(t, pgserver.Options{Durable: true})
	if got := ask[string](t, s, "postgres", "SHOW fsync"); got != "on" {
		t.Errorf("fsync is %q", got)
	}
}

func TestServerLeavesNothingBehind(t *testing.T) {
	dir, err := scratch.New("", "test")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	before, _ := os.ReadDir(dir)
	s, err := pgserver.Start(bounded(t), pgserver.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	addr := s.Addr()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if after, _ := os.ReadDir(dir); len(after) != len(before) {
		t.Errorf("left behind: %v", after)
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		t.Fatalf("the port is still taken: %v", err)
	}
	_ = l.Close()
}

func TestCreateAndDrop(t *testing.T) {
	s, ctx := start(t, pgserver.Options{}), bounded(t)
	template, err := s.Create(ctx, "")
	if err != nil {
		t.Fatal(err)
	}
	run(t, s, template, "CREATE TABLE thing ()")
	copied, err := s.Create(ctx, template)
	if err != nil {
		t.Fatal(err)
	}
	if n := ask[int](t, s, copied, "SELECT count(*)::int FROM pg_tables WHERE tablename = 'thing'"); n != 1 {
		t.Errorf("the copy has %d tables of its template, want 1", n)
	}
	if err := s.Drop(ctx, copied); err != nil {
		t.Error(err)
	}
	for _, foreign := range []string{"postgres", copied, "interlock_0123456789ab"} {
		if err := s.Drop(ctx, foreign); err == nil {
			t.Errorf("dropped %s, which is not ours", foreign)
		}
	}
}

func TestCrashAndResumeKeepCommittedRowsAndThePort(t *testing.T) {
	s, ctx := start(t, pgserver.Options{Durable: true}), bounded(t)
	run(t, s, "postgres", "CREATE TABLE kept AS SELECT 7 AS n")
	addr := s.Addr()
	if err := s.Crash(ctx); err != nil {
		t.Fatal(err)
	}
	if conn, err := pgx.Connect(ctx, s.URL("postgres")); err == nil {
		_ = conn.Close(ctx)
		t.Fatal("a crashed server accepts connections")
	}
	if err := s.Resume(ctx); err != nil {
		t.Fatal(err)
	}
	if s.Addr() != addr {
		t.Errorf("came back at %s, was %s", s.Addr(), addr)
	}
	if n := ask[int](t, s, "postgres", "SELECT n FROM kept"); n != 7 {
		t.Errorf("row is %d, want 7", n)
	}
}

func TestForeignServerKeepsWhatWasThere(t *testing.T) {
	host, ctx := start(t, pgserver.Options{}), bounded(t)
	run(t, host, "postgres", "CREATE TABLE theirs ()")
	guest, err := pgserver.Start(ctx, pgserver.Options{URL: host.URL("postgres")})
	if err != nil {
		t.Fatal(err)
	}
	name, err := guest.Create(ctx, "")
	if err != nil {
		t.Fatal(err)
	}
	if err := guest.Crash(ctx); !errors.Is(err, pgserver.ErrNotOurs) {
		t.Errorf("crash of a foreign server: %v", err)
	}
	if err := guest.Close(); err != nil {
		t.Fatal(err)
	}
	if n := ask[int](t, host, "postgres", "SELECT count(*)::int FROM pg_database WHERE datname = '"+name+"'"); n != 0 {
		t.Error("our database is still there")
	}
	if n := ask[int](t, host, "postgres", "SELECT count(*)::int FROM pg_tables WHERE tablename = 'theirs'"); n != 1 {
		t.Error("their table is gone")
	}
}

func TestForeignServerLosesTheDatabaseOfACrashedRunOnly(t *testing.T) {
	host := start(t, pgserver.Options{})
	name, _ := os.Hostname()
	for db, note := range map[string]string{
		"interlock_00000000dead": `{"product":"interlock","pid":1,"started":"never","purpose":"x","host":"` + name + `"}`,
		"interlock_0000000e15e0": `{"product":"interlock","pid":1,"started":"never","purpose":"x","host":"somewhere else"}`,
		"interlock_000000000000": `not ours`,
	} {
		run(t, host, "postgres", "CREATE DATABASE "+db, "COMMENT ON DATABASE "+db+" IS '"+note+"'")
	}
	start(t, pgserver.Options{URL: host.URL("postgres")})
	got := ask[string](t, host, "postgres", `SELECT string_agg(datname, ' ' ORDER BY datname) FROM pg_database WHERE datname LIKE 'interlock\_0000%'`)
	if want := "interlock_000000000000 interlock_0000000e15e0"; got != want {
		t.Errorf("left %q, want %q", got, want)
	}
}

func TestWrongURLDoesNotRepeatThePassword(t *testing.T) {
	_, err := pgserver.Start(bounded(t), pgserver.Options{URL: "mysql://u:s3cret@h/db"})
	if err == nil || strings.Contains(err.Error(), "s3cret") {
		t.Errorf("error is %v", err)
	}
}

func TestFetchSaysWhatFailed(t *testing.T) {
	empty := httptest.NewServer(http.NotFoundHandler())
	defer empty.Close()
	defer http.DefaultClient.CloseIdleConnections()
	_, err := pgserver.Fetch(bounded(t), t.TempDir(), empty.URL)
	if !errors.Is(err, pgserver.ErrNoBinaries) || !strings.Contains(err.Error(), "no version found") {
		t.Errorf("error is %v", err)
	}
}

func TestStandbyFollowsAndIsPromoted(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	primary, err := pgserver.Start(ctx, pgserver.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer primary.Close()
	standby, err := primary.Standby(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer standby.Close()
	if err := primary.Synchronous(ctx, true); err != nil {
		t.Fatal(err)
	}
	run := func(s *pgserver.Server, statement string) (text string, err error) {
		conn, err := pgx.Connect(ctx, s.URL("postgres"))
		if err != nil {
			return "", err
		}
		defer conn.Close(ctx)
		err = conn.QueryRow(ctx, statement).Scan(&text)
		return text, err
	}
	if _, err := run(primary, "CREATE TABLE t AS SELECT 'kept' AS x; "); err != nil && !errors.Is(err, pgx.ErrNoRows) {
		t.Fatal(err)
	}
	if _, err := run(standby, "INSERT INTO t VALUES ('no') RETURNING x"); err == nil {
		t.Error("a standby takes writes")
	}
	if err := primary.Crash(ctx); err != nil {
		t.Fatal(err)
	}
	if err := standby.Promote(ctx); err != nil {
		t.Fatal(err)
	}
	if got, err := run(standby, "INSERT INTO t SELECT x FROM t RETURNING x"); err != nil || got != "kept" {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := (&pgserver.Server{}).Standby(ctx); !errors.Is(err, pgserver.ErrNotOurs) {
		t.Errorf("a standby of somebody else's server: %v", err)
	}
}
