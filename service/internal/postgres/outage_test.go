package postgres_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/interlock-harness/interlock/harness/stage/pgserver"
	"github.com/interlock-harness/interlock/service/internal/job"
	"github.com/interlock-harness/interlock/service/internal/postgres"
)

// durable returns a server of its own, with fsync on.
func durable(t *testing.T) (*pgserver.Server, string) {
	t.Helper()
	server, err := pgserver.Start(ctx(t), pgserver.Options{Durable: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	name, err := server.Create(ctx(t), "")
	if err != nil {
		t.Fatal(err)
	}
	return server, server.URL(name)
}

func TestADeadlockIsRunAgain(t *testing.T) {
	_, url := open(t, postgres.Options{})
	// the service looks for deadlocks late enough that there is one by then
	s := openAt(t, url+"&options=-c%20deadlock_timeout%3D3s", postgres.Options{Patience: toStore})
	c := running(t, s, submission("k"))
	// somebody who locks the attempt first and the job second
	other, err := pgx.Connect(ctx(t), url)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close(ctx(t))
	run := func(sql string) {
		t.Helper()
		if _, err := other.Exec(ctx(t), sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	run("SET deadlock_timeout = '1min'; BEGIN") // so that the service is the one that is picked
	run("SELECT 1 FROM attempts FOR UPDATE")
	done := make(chan error, 1)
	begun := time.Now()
	go func() { done <- s.Complete(ctx(t), settlement(c, "ok"), json.RawMessage(`1`)) }()
	waiting(t, url, 1)
	run("SELECT 1 FROM jobs FOR UPDATE") // returns when the service was rolled back
	run("COMMIT")
	if err := <-done; err != nil {
		t.Errorf("complete: %v", err)
	}
	if got := states(t, s, c.Job.ID); got != "succeeded " {
		t.Errorf("attempts are %s", got)
	}
	if took := time.Since(begun); took < 3*time.Second {
		t.Errorf("there was no deadlock: it took %s", took)
	}
}

func TestATerminatedBackendIsNoFailure(t *testing.T) {
	s, url := open(t, postgres.Options{ApplicationName: "victim"})
	c := running(t, s, submission("k"))
	letGo := heldRow(t, url, c.Job.ID)
	defer letGo()
	done := make(chan error, 1)
	go func() { done <- s.Complete(ctx(t), settlement(c, "ok"), json.RawMessage(`1`)) }()
	waiting(t, url, 1)
	sql(t, url, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'victim'")
	letGo()
	if err := <-done; err != nil {
		t.Errorf("complete: %v", err)
	}
	if got := states(t, s, c.Job.ID); got != "succeeded " {
		t.Errorf("attempts are %s", got)
	}
}

func TestACallGivesUpInTimeAndSaysSo(t *testing.T) {
	s, url := open(t, postgres.Options{})
	c := running(t, s, submission("k"))
	letGo := heldRow(t, url, c.Job.ID)
	defer letGo()
	begun := time.Now()
	if err := openAt(t, url, postgres.Options{Patience: 200 * time.Millisecond}).Fail(ctx(t), settlement(c, "refused.400")); !errors.Is(err, job.ErrUnavailable) {
		t.Errorf("got %v", err)
	}
	if took := time.Since(begun); took > 5*time.Second {
		t.Errorf("took %s", took)
	}
	letGo()
	if err := s.Fail(ctx(t), settlement(c, "refused.400")); err != nil {
		t.Errorf("after that: %v", err)
	}
}

func TestNoDatabaseIsUnavailable(t *testing.T) {
	s := openAt(t, "postgres://nobody@127.0.0.1:1/none?sslmode=disable", postgres.Options{Patience: 100 * time.Millisecond})
	if _, _, err := s.Submit(ctx(t), submission("k")); !errors.Is(err, job.ErrUnavailable) {
		t.Errorf("submit: %v", err)
	}
	if _, err := s.Job(ctx(t), "alice", "00000000-0000-7000-8000-000000000000"); !errors.Is(err, job.ErrUnavailable) {
		t.Errorf("read: %v", err)
	}
	if _, err := s.Claim(ctx(t), "w", time.Minute, 1); !errors.Is(err, job.ErrUnavailable) {
		t.Errorf("claim: %v", err)
	}
}

func TestASafeDatabasePasses(t *testing.T) {
	_, url := durable(t)
	s := openAt(t, url, postgres.Options{})
	if err := s.Migrate(ctx(t)); err != nil {
		t.Fatal(err)
	}
	if err := s.CheckSafety(ctx(t)); err != nil {
		t.Error(err)
	}
}

// Whatever was acknowledged before a crash is there after it, once; and the
// store finds the server again by itself.
func TestACrashLosesNothingAcknowledged(t *testing.T) {
	server, url := durable(t)
	s := openAt(t, url, postgres.Options{PoolSize: 8})
	if err := s.Migrate(ctx(t)); err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	acknowledged := map[job.Key]job.ID{}
	submitting, stop := context.WithCancel(context.Background())
	var clients sync.WaitGroup
	for client := range 8 {
		clients.Go(func() {
			for i := 0; submitting.Err() == nil; i++ {
				key := job.Key(fmt.Sprintf("%d-%d", client, i))
				j, _, err := s.Submit(ctx(t), submission(key))
				for errors.Is(err, job.ErrUnavailable) && submitting.Err() == nil { // the caller repeats with the same key
					j, _, err = s.Submit(ctx(t), submission(key))
				}
				if err != nil && !errors.Is(err, job.ErrUnavailable) {
					t.Error(err)
				}
				if err == nil {
					mu.Lock()
					acknowledged[key] = j.ID
					mu.Unlock()
				}
			}
		})
	}
	count := func() int { mu.Lock(); defer mu.Unlock(); return len(acknowledged) }
	grow := func(by int) {
		t.Helper()
		for from, begun := count(), time.Now(); count() < from+by; time.Sleep(time.Millisecond) {
			if time.Since(begun) > toStore {
				t.Fatalf("no more submits: %d, wanted %d more than %d", count(), by, from)
			}
		}
	}
	grow(50)
	for range 2 {
		if err := server.Crash(ctx(t)); err != nil {
			t.Fatal(err)
		}
		if err := server.Resume(ctx(t)); err != nil {
			t.Fatal(err)
		}
		grow(50)
	}
	stop()
	clients.Wait()
	for key, id := range acknowledged {
		if j, err := s.JobByKey(ctx(t), "alice", key); err != nil || j.ID != id {
			t.Errorf("key %s: acknowledged as %s, is %s, %v", key, id, j.ID, err)
		}
	}
	if n := value[int](t, url, "SELECT count(*) FROM jobs j WHERE (SELECT count(*) FROM attempts a WHERE a.job_id = j.id) <> 1"); n != 0 {
		t.Errorf("%d jobs without exactly one attempt", n)
	}
}
