package postgres_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/interlock-harness/interlock/service/internal/job"
	"github.com/interlock-harness/interlock/service/internal/mutant"
	"github.com/interlock-harness/interlock/service/internal/pgtest"
	"github.com/interlock-harness/interlock/service/internal/postgres"
)

// openMutant returns a store with the fault called name on a marked database.
func openMutant(t *testing.T, name string) (*postgres.Store, string) {
	t.Helper()
	url := migrated(t)
	s := openAt(t, url, postgres.Options{Mutant: mutated(t, name), PoolSize: 32})
	for range 2 { // several processes of a stage do the same
		if err := s.Migrate(ctx(t)); err != nil {
			t.Fatal(err)
		}
	}
	return s, url
}

func TestAMutantNeedsAMarkedDatabase(t *testing.T) {
	url := pgtest.Database(t)
	try := func() error {
		s, err := postgres.New(ctx(t), url, postgres.Options{Mutant: mutated(t, "last-write-wins")})
		if err == nil {
			s.Close()
		}
		return err
	}
	if err := try(); err == nil || !strings.Contains(err.Error(), "throw-away") {
		t.Errorf("without the mark: %v", err)
	}
	sql(t, url, `CREATE TABLE interlock_stage (marker text)`)
	if err := try(); err == nil {
		t.Error("an empty mark counts")
	}
	sql(t, url, `INSERT INTO interlock_stage VALUES ('throw-away')`)
	if err := try(); err != nil {
		t.Errorf("with the mark: %v", err)
	}
}

// Every mutant of a statement finds the text that it replaces, exactly once:
// New refuses it otherwise.
func TestEveryMutantApplies(t *testing.T) {
	url := migrated(t)
	for _, m := range mutant.All() {
		openAt(t, url, postgres.Options{Mutant: mutated(t, m.Name)}).Close()
	}
}

// heldRow keeps the row of a job locked until it is let go.
func heldRow(t *testing.T, url string, id job.ID) (letGo func()) {
	t.Helper()
	c, err := pgx.Connect(ctx(t), url)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Exec(ctx(t), "BEGIN"); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Exec(ctx(t), "SELECT 1 FROM jobs WHERE id = $1 FOR NO KEY UPDATE", string(id)); err != nil {
		t.Fatal(err)
	}
	return sync.OnceFunc(func() {
		_, _ = c.Exec(ctx(t), "ROLLBACK")
		_ = c.Close(ctx(t))
	})
}

// waiting returns when n backends wait for a lock.
func waiting(t *testing.T, url string, n int) {
	t.Helper()
	for begun := time.Now(); time.Since(begun) < toStore; time.Sleep(2 * time.Millisecond) {
		if value[int](t, url, "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'") >= n {
			return
		}
	}
	t.Fatalf("%d backends never waited for a lock", n)
}

// wrong says what each mutant of the store lets happen. The clean service must
// not: each function is run on it as well and must return "".
var wrong = map[string]func(t *testing.T, s *postgres.Store, url string) string{
	"check-then-insert": func(t *testing.T, s *postgres.Store, url string) string {
		for i := range 50 {
			together(8, func(int) { _, _, _ = s.Submit(ctx(t), submission(job.Key(fmt.Sprint(i)))) })
		}
		if n := value[int](t, url, "SELECT count(*) FROM jobs"); n > 50 {
			return "two jobs of one key"
		}
		return ""
	},
	"key-unique-for-all-owners": func(t *testing.T, s *postgres.Store, url string) string {
		first := submit(t, s, submission("k"))
		in := submission("k")
		in.Owner = "bob"
		if j, created, err := s.Submit(ctx(t), in); err != nil || !created || j.ID == first.ID {
			return "the other owner gets the first one's job"
		}
		return ""
	},
	"no-open-attempt-index": twoOpenAttempts(job.StateRunning),
	"unknown-does-not-block": func(t *testing.T, s *postgres.Store, url string) string {
		if wrong := twoOpenAttempts(job.StateRunning)(t, s, url); wrong != "" {
			return "more than it is named for: " + wrong
		}
		return twoOpenAttempts(job.StateUnknown)(t, s, url)
	},
	"last-write-wins": func(t *testing.T, s *postgres.Store, url string) string {
		a, b := twoContenders(t, s, "k")
		_ = s.Complete(ctx(t), settlement(b, "ok"), json.RawMessage(`"second"`))
		_ = s.Complete(ctx(t), settlement(a, "ok"), json.RawMessage(`"first"`))
		if r := string(jobOf(t, s, a.Job.ID).Result); r != `"second"` {
			return "the late result replaced the winner's"
		}
		return ""
	},
	"read-then-write": func(t *testing.T, s *postgres.Store, url string) string {
		a, b := twoContenders(t, s, "in turn")
		_ = s.Complete(ctx(t), settlement(b, "ok"), json.RawMessage(`1`))
		if err := s.Complete(ctx(t), settlement(a, "ok"), json.RawMessage(`2`)); !errors.Is(err, job.ErrLate) {
			return "more than it is named for: one after the other both win"
		}
		a, b = twoContenders(t, s, "at once")
		letGo := heldRow(t, url, a.Job.ID)
		defer letGo()
		done := make(chan error, 2)
		for _, c := range []job.Claimed{a, b} {
			go func() { done <- s.Complete(ctx(t), settlement(c, "ok"), json.RawMessage(`1`)) }()
		}
		waiting(t, url, 2)
		letGo()
		if err1, err2 := <-done, <-done; err1 == nil && err2 == nil {
			return "both won"
		}
		return ""
	},
	"cancelled-attempt-may-win": func(t *testing.T, s *postgres.Store, url string) string {
		c := inState(t, s, "k", job.StateCancelled)
		_ = s.Complete(ctx(t), settlement(c, "ok"), json.RawMessage(`1`))
		return whoWon(t, s, c)
	},
	"failed-may-win": func(t *testing.T, s *postgres.Store, url string) string {
		c := inState(t, s, "k", job.StateFailed)
		_ = s.Complete(ctx(t), settlement(c, "ok"), json.RawMessage(`1`))
		return whoWon(t, s, c)
	},
	"cancel-bumps-no-version": func(t *testing.T, s *postgres.Store, url string) string {
		c := running(t, s, submission("k"))
		if _, err := s.CancelJob(ctx(t), job.Move{Owner: "alice", Job: c.Job.ID, Actor: "owner:alice"}); err != nil {
			t.Fatal(err)
		}
		_ = s.Complete(ctx(t), settlement(c, "ok"), json.RawMessage(`1`))
		return whoWon(t, s, c)
	},
	"race-not-recorded": func(t *testing.T, s *postgres.Store, url string) string {
		a, b := twoContenders(t, s, "k")
		_ = s.Complete(ctx(t), settlement(b, "ok"), json.RawMessage(`1`))
		_ = s.Complete(ctx(t), settlement(a, "ok"), json.RawMessage(`2`))
		if races, err := s.Races(ctx(t), "alice", job.RaceFilter{}); err != nil || len(races) == 0 {
			return "no trace of the late result"
		}
		return ""
	},
	"reaper-sends-again":   reapedInto(job.StateStarting),
	"reaper-writes-failed": reapedInto(job.StateFailed),
	"reaper-by-id": func(t *testing.T, s *postgres.Store, url string) string {
		submit(t, s, submission("k"))
		got, err := s.Claim(ctx(t), "w", -time.Second, 1)
		if err != nil || len(got) != 1 {
			t.Fatal(got, err)
		}
		// the reaper has read, and stands before its write; the worker settles
		sql(t, url, `CREATE FUNCTION stall() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_advisory_xact_lock(7); RETURN NEW; END $$`)
		// hold the row of the job: the reaper skips it, so let it read first
		letGo := heldAdvisory(t, url)
		defer letGo()
		sql(t, url, `CREATE TRIGGER stall BEFORE UPDATE ON attempts FOR EACH STATEMENT WHEN (current_setting('application_name') = 'reaper') EXECUTE FUNCTION stall()`)
		reaper := openAt(t, url, postgres.Options{ApplicationName: "reaper", Mutant: s.Mutant()})
		done := make(chan error, 1)
		go func() { _, err := reaper.ReapLeases(ctx(t)); done <- err }()
		waiting(t, url, 1)
		// the worker cannot settle while the reaper holds the job, so it renews its lease
		if still, err := s.Heartbeat(ctx(t), "w", time.Minute, []job.AttemptID{got[0].Attempt.ID}); err != nil || len(still) != 1 {
			t.Fatal(still, err)
		}
		letGo()
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		if a := attemptsOf(t, s, got[0].Job.ID)[0]; a.State != job.StateRunning {
			return "an attempt with a renewed lease was reaped"
		}
		return ""
	},
	"claim-without-lock": func(t *testing.T, s *postgres.Store, url string) string {
		for i := range 30 {
			submit(t, s, submission(job.Key(fmt.Sprint(i))))
			var mu sync.Mutex
			got := 0
			together(4, func(w int) {
				c, err := s.Claim(ctx(t), fmt.Sprint("w", w), time.Minute, 1)
				mu.Lock()
				defer mu.Unlock()
				if err == nil {
					got += len(c)
				}
			})
			if got > 1 {
				return "two workers hold one attempt"
			}
		}
		return ""
	},
	"start-moves-the-job": func(t *testing.T, s *postgres.Store, url string) string {
		c := inState(t, s, "k", job.StateFailed)
		before := value[string](t, url, "SELECT xmin::text FROM jobs")
		if _, _, err := s.StartAttempt(ctx(t), job.Start{Owner: "alice", Job: c.Job.ID, Actor: "owner:alice"}); err != nil {
			t.Fatal(err)
		}
		if value[string](t, url, "SELECT xmin::text FROM jobs") != before {
			return "the row of the job moved"
		}
		return ""
	},
	"owner-not-asked": func(t *testing.T, s *postgres.Store, url string) string {
		j := submit(t, s, submission("k"))
		if _, err := s.Job(ctx(t), "mallory", j.ID); err == nil {
			return "another owner reads the job"
		}
		return ""
	},
}

func twoOpenAttempts(first job.State) func(*testing.T, *postgres.Store, string) string {
	return func(t *testing.T, s *postgres.Store, url string) string {
		c := inState(t, s, job.Key("first "+first), first)
		_, _, err := s.StartAttempt(ctx(t), job.Start{Owner: "alice", Job: c.Job.ID, Actor: "owner:alice"})
		if err == nil {
			return "two attempts are open"
		}
		return ""
	}
}

func reapedInto(state job.State) func(*testing.T, *postgres.Store, string) string {
	return func(t *testing.T, s *postgres.Store, url string) string {
		j := submit(t, s, submission("k"))
		if got, err := s.Claim(ctx(t), "w", -time.Second, 1); err != nil || len(got) != 1 {
			t.Fatal(got, err)
		}
		if n, err := s.ReapLeases(ctx(t)); err != nil || n != 1 {
			t.Fatal(n, err)
		}
		switch got := attemptsOf(t, s, j.ID)[0].State; got {
		case job.StateUnknown:
			return ""
		case state:
			return "the reaper wrote " + string(state)
		default:
			t.Fatalf("the reaper wrote %s", got)
			return ""
		}
	}
}

func whoWon(t *testing.T, s *postgres.Store, c job.Claimed) string {
	t.Helper()
	if jobOf(t, s, c.Job.ID).CompletedBy != "" {
		return "an attempt won that was no contender"
	}
	return ""
}

func heldAdvisory(t *testing.T, url string) (letGo func()) {
	t.Helper()
	c, err := pgx.Connect(ctx(t), url)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Exec(ctx(t), "SELECT pg_advisory_lock(7)"); err != nil {
		t.Fatal(err)
	}
	return sync.OnceFunc(func() { _ = c.Close(ctx(t)) })
}

// shownByScenario are mutants that need a lost COMMIT, a second process, another
// clock or a hundred clients to be seen: `interlock mutants` shows that each is
// wrong and the clean service is not.
var shownByScenario = map[string]bool{
	"advisory-lock-too-short": true, "deadline-by-wall-clock": true, "job-and-attempt-apart": true, "lease-is-no-fence": true,
	"lost-start-is-new": true, "result-from-the-future": true, "resolve-any-state": true, "late-failure-reopens": true, "rescue-by-age": true, "cancelled-is-sent": true, "moves-not-guarded": true, "claim-by-new-column": true, "second-queue": true, "unknown-locks-for-ever": true,
}

func TestEachMutantIsWrongAndTheCleanServiceIsNot(t *testing.T) {
	for name, show := range wrong {
		t.Run(name, func(t *testing.T) {
			t.Run("clean", func(t *testing.T) {
				s, url := open(t, postgres.Options{PoolSize: 32})
				if got := show(t, s, url); got != "" {
					t.Errorf("the clean service: %s", got)
				}
			})
			t.Run("mutant", func(t *testing.T) {
				s, url := openMutant(t, name)
				if got := show(t, s, url); got == "" || strings.HasPrefix(got, "more than") {
					t.Errorf("the mutant changes nothing that it should: %q", got)
				}
			})
		})
	}
	for _, m := range mutant.All() {
		if len(m.Schema)+len(m.Replace) > 0 && wrong[m.Name] == nil && m.Name != "failover-on-unknown" && !shownByScenario[m.Name] {
			t.Errorf("mutant %s has no test that shows what it does", m.Name)
		}
	}
}

func TestFailoverOnUnknown(t *testing.T) {
	next := policy{next: func(job.Job, []job.Attempt, job.Failure) job.Decision { return job.Decision{Provider: "q"} }}
	for name, want := range map[string]string{"": "unknown ", "failover-on-unknown": "unknown starting "} {
		url := migrated(t)
		s := openAt(t, url, postgres.Options{Mutant: mutated(t, name), Failover: next})
		if err := s.Migrate(ctx(t)); err != nil {
			t.Fatal(err)
		}
		c := inState(t, s, "k", job.StateUnknown)
		if got := states(t, s, c.Job.ID); got != want {
			t.Errorf("mutant %q: attempts are %q, want %q", name, got, want)
		}
	}
}
