package service_test

import (
	"context"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

func TestMigrateCanBeRepeated(t *testing.T) {
	s := newSetting(t)
	for range 2 {
		code, stdout, stderr := run(t, s.env, "migrate")
		if code != 0 || stdout != "the schema is up to date\n" {
			t.Fatalf("exit %d: %s %s", code, stdout, stderr)
		}
	}
	if code, _, stderr := run(t, []string{"DATABASE_URL=postgres://u:hunter2@127.0.0.1:1/x"}, "migrate"); code != 3 || strings.Contains(stderr, "hunter2") {
		t.Errorf("exit %d: %s", code, stderr)
	}
	if code, _, _ := run(t, s.env, "migrate", "--listen", "x"); code != 64 {
		t.Errorf("a flag of serve: exit %d", code)
	}
}

func TestADatabaseOfSomebodyElseIsLeftAlone(t *testing.T) {
	s := newSetting(t)
	conn, err := pgx.Connect(t.Context(), s.url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	exec := func(sql string) {
		t.Helper()
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	tables := func() (names string) {
		t.Helper()
		err := conn.QueryRow(t.Context(), "SELECT string_agg(relname, ' ' ORDER BY relname) FROM pg_class WHERE relnamespace = 'public'::regnamespace").Scan(&names)
		if err != nil {
			t.Fatal(err)
		}
		return names
	}
	exec("DROP SCHEMA public CASCADE; CREATE SCHEMA public; CREATE TABLE jobs (title text)")
	before := tables()
	for _, command := range [][]string{{"migrate"}, {"serve", "--listen", "127.0.0.1:0", "--migrate"}, {"serve", "--listen", "127.0.0.1:0"}} {
		code, _, stderr := run(t, s.env, command...)
		if code != 64 || !strings.Contains(stderr, "not the service's (jobs)") || tables() != before {
			t.Errorf("%v: exit %d, tables %s: %s", command, code, tables(), stderr)
		}
	}
	exec("DROP TABLE jobs")
	if code, _, stderr := run(t, s.env, "migrate"); code != 0 {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	exec("INSERT INTO goose_db_version (version_id, is_applied) VALUES (9000, true)")
	for _, command := range [][]string{{"migrate"}, {"serve", "--listen", "127.0.0.1:0"}} {
		if code, _, stderr := run(t, s.env, command...); code != 3 || !strings.Contains(stderr, "it is at version 9000") {
			t.Errorf("%v on a newer schema: exit %d: %s", command, code, stderr)
		}
	}
}

func TestDatabaseThatGoesAwayIsSaidAndComesBack(t *testing.T) {
	s := newSetting(t)
	c := s.start(t)
	conn, err := pgx.Connect(t.Context(), s.url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	if _, err := conn.Exec(t.Context(), "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"); err != nil {
		t.Fatal(err)
	}
	status, _, body := c.ask("POST", "/v1/jobs", ownerKey, intent("after"), "Idempotency-Key", "k", "Prefer", "wait=10")
	if status != 200 {
		t.Errorf("%d %s; %s", status, body, c.stderr)
	}
}
