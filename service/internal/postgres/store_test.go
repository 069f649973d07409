package postgres_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/interlock-harness/interlock/service/internal/job"
	"github.com/interlock-harness/interlock/service/internal/pgtest"
	"github.com/interlock-harness/interlock/service/internal/postgres"
)

// toStore bounds one call of the store, or one wait for it.
const toStore = 20 * time.Second

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

// open returns a migrated store on a fresh database, and the database's URL.
func open(t testing.TB, o postgres.Options) (*postgres.Store, string) {
	t.Helper()
	url := migrated(t)
	return openAt(t, url, o), url
}

// migrated returns a fresh database with the schema, and the mark of a stage.
func migrated(t testing.TB) string {
	t.Helper()
	return pgtest.Copy(t, "migrated", func(url string) {
		s, err := postgres.New(ctx(t), url, postgres.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close() // nobody may be connected to a template
		if err := s.Migrate(ctx(t)); err != nil {
			t.Fatal(err)
		}
		sql(t, url, `CREATE TABLE interlock_stage (marker text); INSERT INTO interlock_stage VALUES ('throw-away')`)
	})
}

func openAt(t testing.TB, url string, o postgres.Options) *postgres.Store {
	t.Helper()
	s, err := postgres.New(ctx(t), url, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func ctx(t testing.TB) context.Context {
	c, cancel := context.WithTimeout(context.Background(), toStore)
	t.Cleanup(cancel)
	return c
}

// sql runs a statement past the store, as the superuser of the test cluster.
func sql(t testing.TB, url, statement string, args ...any) {
	t.Helper()
	if err := trySQL(t, url, statement, args...); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

func trySQL(t testing.TB, url, statement string, args ...any) error {
	t.Helper()
	c, err := pgx.Connect(ctx(t), url)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(ctx(t))
	_, err = c.Exec(ctx(t), statement, args...)
	return err
}

// value reads one value past the store.
func value[T any](t testing.TB, url, statement string, args ...any) T {
	t.Helper()
	var v T
	c, err := pgx.Connect(ctx(t), url)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(ctx(t))
	if err := c.QueryRow(ctx(t), statement, args...).Scan(&v); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
	return v
}

// submission is what owner alice sends under key.
func submission(key job.Key) job.Submission {
	return job.Submission{
		Owner: "alice", Key: key,
		Fingerprint: sha256.Sum256([]byte("input")), FingerprintAlgorithm: 1,
		RawBody: []byte(`{"intent":{}}`),
		Intent: job.Intent{
			Contract: "triage@1.0.0", Provider: "p", Input: json.RawMessage(`{"text":"a <b> & c"}`),
			Failover: job.Failover{Mode: "manual"}, DeadlineMS: 30000,
		},
	}
}

func submit(t testing.TB, s *postgres.Store, in job.Submission) job.Job {
	t.Helper()
	j, created, err := s.Submit(ctx(t), in)
	if err != nil || !created {
		t.Fatalf("submit: created %v, %v", created, err)
	}
	return j
}

// claim takes the one attempt that waits.
func claim(t testing.TB, s *postgres.Store, worker string) job.Claimed {
	t.Helper()
	got, err := s.Claim(ctx(t), worker, time.Minute, 10)
	if err != nil || len(got) != 1 {
		t.Fatalf("claim: %d attempts, %v, want 1", len(got), err)
	}
	return got[0]
}

// claimAll takes the n attempts that wait.
func claimAll(t testing.TB, s *postgres.Store, n int) []job.Claimed {
	t.Helper()
	got, err := s.Claim(ctx(t), "w", time.Minute, n+1)
	if err != nil || len(got) != n {
		t.Fatalf("claim: %d attempts, %v, want %d", len(got), err, n)
	}
	return got
}

// running submits a job and claims its attempt.
func running(t testing.TB, s *postgres.Store, in job.Submission) job.Claimed {
	t.Helper()
	submit(t, s, in)
	return claim(t, s, "w")
}

// settlement is what the holder of c says.
func settlement(c job.Claimed, reason string) job.Settlement {
	return job.Settlement{Job: c.Job.ID, Attempt: c.Attempt.ID, Fence: c.Attempt.Fence, Version: c.Job.Version, Actor: "worker", Reason: reason}
}

func jobOf(t testing.TB, s *postgres.Store, id job.ID) job.Job {
	t.Helper()
	j, err := s.Job(ctx(t), job.AnyOwner, id)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

func attemptsOf(t testing.TB, s *postgres.Store, id job.ID) []job.Attempt {
	t.Helper()
	a, err := s.Attempts(ctx(t), job.AnyOwner, id)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// states renders the attempts of a job in order.
func states(t testing.TB, s *postgres.Store, id job.ID) string {
	t.Helper()
	text := ""
	for _, a := range attemptsOf(t, s, id) {
		text += fmt.Sprintf("%s ", a.State)
	}
	return text
}

// rounds is how often a test of simultaneous calls is repeated: usual, or as
// INTERLOCK_TEST_REPEAT says.
func rounds(t testing.TB, usual int) int {
	t.Helper()
	text := os.Getenv("INTERLOCK_TEST_REPEAT")
	if text == "" {
		return usual
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > 10_000 {
		t.Fatalf("INTERLOCK_TEST_REPEAT is %q, but must be 1 to 10000", text)
	}
	return n
}

// together runs n calls from one barrier and returns when all have ended.
func together(n int, call func(i int)) {
	var ready, done sync.WaitGroup
	gate := make(chan struct{})
	for i := range n {
		ready.Add(1)
		done.Add(1)
		go func() {
			defer done.Done()
			ready.Done()
			<-gate
			call(i)
		}()
	}
	ready.Wait()
	close(gate)
	done.Wait()
}

// refusedBy runs a statement past the store, which a constraint must refuse.
func refusedBy(t testing.TB, url, statement, constraint string) {
	t.Helper()
	var pg *pgconn.PgError
	if err := trySQL(t, url, statement); !errors.As(err, &pg) || pg.ConstraintName != constraint {
		t.Errorf("%s\n\tgot %v, want a violation of %s", statement, err, constraint)
	}
}
