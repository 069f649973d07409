package fault_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/interlock-harness/interlock/harness/fault"
	"github.com/interlock-harness/interlock/harness/history"
)

func TestLocksHoldWhoNeedsThem(t *testing.T) {
	_, url := database(t)
	for name, c := range map[string]struct {
		arm    func(context.Context, *history.Recorder) (*fault.Lock, error)
		blocks string
		passes string // a statement that must not wait
	}{
		"job-row-lock": {
			arm: func(ctx context.Context, r *history.Recorder) (*fault.Lock, error) {
				return fault.LockJob(ctx, r, url, job)
			},
			blocks: "UPDATE jobs SET version = version + 1", passes: "SELECT FROM jobs",
		},
		"attempt-row-lock": {
			arm: func(ctx context.Context, r *history.Recorder) (*fault.Lock, error) {
				return fault.LockAttempt(ctx, r, url, attempt)
			},
			blocks: "UPDATE attempts SET state = 'unknown'", passes: "UPDATE jobs SET version = version + 1",
		},
		"table-lock": {
			arm: func(ctx context.Context, r *history.Recorder) (*fault.Lock, error) {
				return fault.LockTable(ctx, r, url, "attempts", "SHARE")
			},
			blocks: "UPDATE attempts SET state = 'unknown'", passes: "SELECT FROM attempts",
		},
		"key-lock": {
			arm: func(ctx context.Context, r *history.Recorder) (*fault.Lock, error) {
				return fault.HoldKey(ctx, r, url, "o", "k-2")
			},
			blocks: "INSERT INTO jobs (id, owner, key) VALUES (gen_random_uuid(), 'o', 'k-2')",
			passes: "INSERT INTO jobs (id, owner, key) VALUES (gen_random_uuid(), 'o', 'k-3')",
		},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, rec := bounded(t), history.New()
			l, err := c.arm(ctx, rec)
			if err != nil {
				t.Fatal(err)
			}
			if err := try(ctx, url, c.passes); err != nil {
				t.Error(err)
			}
			done := make(chan error, 1)
			go func() { done <- try(ctx, url, c.blocks) }()
			waiters, err := l.Await(ctx, 1)
			if err != nil {
				t.Fatal(err)
			}
			if len(waiters) != 1 || waiters[0].Query != c.blocks {
				t.Errorf("waiting: %+v", waiters)
			}
			select {
			case err := <-done:
				t.Errorf("it did not wait: %v", err)
			default:
			}
			if err := l.Heal(ctx); err != nil {
				t.Error(err)
			}
			if err := <-done; err != nil {
				t.Error(err)
			}
			lived(t, rec, name, true)
		})
	}
}

func TestHeldKeyThatCommitsWins(t *testing.T) {
	_, url := database(t)
	ctx, rec := bounded(t), history.New()
	l, err := fault.HoldKey(ctx, rec, url, "o", "k-4")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		done <- try(ctx, url, "INSERT INTO jobs (id, owner, key) VALUES (gen_random_uuid(), 'o', 'k-4')")
	}()
	if _, err := l.Await(ctx, 1); err != nil {
		t.Fatal(err)
	}
	if err := l.Commit(ctx); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err == nil || !strings.Contains(err.Error(), "23505") {
		t.Errorf("the second insert ended with %v, want a unique violation", err)
	}
}

func TestLockWithoutARowOrAWaiterProvesNothing(t *testing.T) {
	_, url := database(t)
	ctx, rec := bounded(t), history.New()
	if _, err := fault.LockJob(ctx, rec, url, attempt); err == nil {
		t.Error("a job that is not there was locked")
	}
	l, err := fault.LockJob(ctx, rec, url, job)
	if err != nil {
		t.Fatal(err)
	}
	short, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
	defer cancel()
	if _, err := l.Await(short, 1); err == nil {
		t.Error("somebody waits")
	}
	if err := l.Heal(ctx); err != nil {
		t.Error(err)
	}
	lived(t, rec, "job-row-lock", false)
}

func TestTerminateEndsOneBackend(t *testing.T) {
	_, url := database(t)
	ctx, rec := bounded(t), history.New()
	l, err := fault.LockJob(ctx, history.New(), url, job)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- try(ctx, url, "UPDATE jobs SET version = version + 1") }()
	waiters, err := l.Await(ctx, 1)
	if err != nil {
		t.Fatal(err)
	}
	f, err := fault.Terminate(ctx, rec, url, waiters[0].PID)
	if err != nil {
		t.Fatal(err)
	}
	if err := <-done; err == nil || !strings.Contains(err.Error(), "57P01") {
		t.Errorf("the backend ended with %v, want 57P01", err)
	}
	if !f.Fired() {
		t.Error("it did not fire")
	}
	if err := l.Heal(ctx); err != nil {
		t.Error(err)
	}
	lived(t, rec, "backend-terminated", true)
	if _, err := fault.Terminate(ctx, history.New(), url, waiters[0].PID); err == nil {
		t.Error("a backend that is gone was ended again")
	}
}

func TestCrashCutsEverybodyAndHealsOnTheSamePort(t *testing.T) {
	s, url := database(t)
	ctx, rec := bounded(t), history.New()
	run(t, url, "UPDATE jobs SET version = 7")
	f, err := fault.Crash(ctx, rec, s)
	if err != nil {
		t.Fatal(err)
	}
	if err := try(ctx, url, "SELECT"); err == nil {
		t.Error("a crashed server answers")
	}
	if err := f.Heal(ctx); err != nil {
		t.Fatal(err)
	}
	run(t, url, "DO $$ BEGIN ASSERT (SELECT version FROM jobs) = 7; END $$")
	lived(t, rec, "postgres-crash", true)
}
