package postgres_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/interlock-harness/interlock/service/internal/job"
	"github.com/interlock-harness/interlock/service/internal/postgres"
)

func TestSubmitStoresJobAttemptAndEvents(t *testing.T) {
	s, url := open(t, postgres.Options{})
	in := submission("k")
	j := submit(t, s, in)

	got := jobOf(t, s, j.ID)
	if got.Status != job.StatusStarting || got.Version != 1 || got.Attempts != 1 || got.LastEvent != j.LastEvent || got.Key != "k" || got.Owner != "alice" {
		t.Errorf("job is %+v", got)
	}
	if string(got.Intent.Input) != string(in.Intent.Input) {
		t.Errorf("input is %s", got.Intent.Input)
	}
	if !got.CreatedAt.Equal(j.CreatedAt) || j.CreatedAt.IsZero() {
		t.Errorf("created at %v, told %v", got.CreatedAt, j.CreatedAt)
	}
	if body := value[[]byte](t, url, "SELECT request FROM jobs"); string(body) != string(in.RawBody) {
		t.Errorf("stored body is %q", body)
	}
	events, err := s.Events(ctx(t), "alice", j.ID, 0, 0)
	if err != nil || len(events) != 2 || events[0].Type != job.EventJobSubmitted || events[1].To != job.StateStarting || events[1].N != 1 {
		t.Errorf("events are %+v, %v", events, err)
	}
}

func TestSubmitOfManyAtOnceGivesOneJob(t *testing.T) {
	s, url := open(t, postgres.Options{PoolSize: 64})
	times := rounds(t, 5)
	for round := range times {
		in := submission(job.Key(fmt.Sprint("k", round)))
		var mu sync.Mutex
		ids, created := map[job.ID]int{}, 0
		together(64, func(int) {
			j, c, err := s.Submit(ctx(t), in)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				t.Error(err)
			}
			ids[j.ID]++
			if c {
				created++
			}
		})
		if len(ids) != 1 || created != 1 {
			t.Errorf("%d ids, %d created, want one of each", len(ids), created)
		}
		if n := value[int](t, url, "SELECT count(*) FROM jobs WHERE key = $1", string(in.Key)); n != 1 {
			t.Errorf("%d rows of key %s", n, in.Key)
		}
	}
	if n := value[int](t, url, "SELECT count(*) FROM attempts"); n != times {
		t.Errorf("%d attempts for %d jobs", n, times)
	}
}

func TestSubmitAgain(t *testing.T) {
	s, _ := open(t, postgres.Options{})
	first := submit(t, s, submission("k"))

	t.Run("with the same input returns the same job", func(t *testing.T) {
		j, created, err := s.Submit(ctx(t), submission("k"))
		if err != nil || created || j.ID != first.ID {
			t.Errorf("got %s, created %v, %v", j.ID, created, err)
		}
	})
	t.Run("with another input is a conflict that names the job", func(t *testing.T) {
		in := submission("k")
		in.Fingerprint = sha256.Sum256([]byte("other"))
		_, _, err := s.Submit(ctx(t), in)
		var conflict *job.KeyConflictError
		if !errors.As(err, &conflict) || conflict.JobID != first.ID {
			t.Errorf("got %v", err)
		}
	})
	t.Run("with a fingerprint of another algorithm is a conflict", func(t *testing.T) {
		in := submission("k")
		in.FingerprintAlgorithm = 2
		_, _, err := s.Submit(ctx(t), in)
		var conflict *job.KeyConflictError
		if !errors.As(err, &conflict) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("by another owner is a job of its own", func(t *testing.T) {
		in := submission("k")
		in.Owner = "bob"
		if j := submit(t, s, in); j.ID == first.ID {
			t.Error("two owners share a job")
		}
	})
}

func TestSubmitKeepsBytesThatJSONOfPostgreSQLCannot(t *testing.T) {
	s, url := open(t, postgres.Options{})
	in := submission("k")
	in.RawBody = []byte("\x00\xff not text")
	in.Intent.Input = json.RawMessage(`{"nul":"\u0000","big":1e1000001,"n":9007199254740993}`)
	j := submit(t, s, in)
	if body := value[[]byte](t, url, "SELECT request FROM jobs"); string(body) != string(in.RawBody) {
		t.Errorf("stored body is %q", body)
	}
	if got := jobOf(t, s, j.ID); string(got.Intent.Input) != string(in.Intent.Input) {
		t.Errorf("input is %s", got.Intent.Input)
	}
}

func TestDuplicatesWriteNothing(t *testing.T) {
	var mu sync.Mutex
	sent := map[string]int{}
	s, url := open(t, postgres.Options{Spans: func(_ context.Context, statement string) func(error) {
		mu.Lock()
		defer mu.Unlock()
		sent[statement]++
		return func(error) {}
	}})
	submit(t, s, submission("k"))
	before := value[string](t, url, everyVersion)
	mu.Lock()
	clear(sent)
	mu.Unlock()
	for range 20 {
		if _, created, err := s.Submit(ctx(t), submission("k")); err != nil || created {
			t.Fatal(created, err)
		}
	}
	mu.Lock()
	if len(sent) != 1 || sent["job-by-key"] != 20 { // a read alone takes no transaction number
		t.Errorf("20 duplicates sent %v", sent)
	}
	mu.Unlock()
	if after := value[string](t, url, everyVersion); after != before {
		t.Errorf("duplicates wrote or locked something:\n%s became\n%s", before, after)
	}
	submit(t, s, submission("k-2"))
	if value[string](t, url, everyVersion) == before {
		t.Error("a new job is not seen")
	}
}

// everyVersion shows where each row version is, which transactions made and locked
// it, and how many event numbers were drawn, of those that were rolled back, too.
const everyVersion = `
	SELECT concat_ws(' ',
		(SELECT string_agg(ctid || '/' || xmin || '/' || xmax, ' ' ORDER BY id) FROM jobs),
		(SELECT string_agg(ctid || '/' || xmin || '/' || xmax, ' ' ORDER BY id) FROM attempts),
		(SELECT string_agg(ctid || '/' || xmin || '/' || xmax, ' ' ORDER BY id) FROM attempt_events),
		(SELECT last_value FROM attempt_events_id_seq))`

func TestOwnersDoNotSeeEachOther(t *testing.T) {
	s, _ := open(t, postgres.Options{})
	j := submit(t, s, submission("k"))
	c := claim(t, s, "w")
	if err := s.Complete(ctx(t), settlement(c, "ok"), json.RawMessage(`{}`)); err != nil {
		t.Fatal(err)
	}
	calls := map[string]func(owner job.Owner) error{
		"Job":      func(o job.Owner) error { _, err := s.Job(ctx(t), o, j.ID); return err },
		"JobByKey": func(o job.Owner) error { _, err := s.JobByKey(ctx(t), o, j.Key); return err },
		"Attempts": func(o job.Owner) error { _, err := s.Attempts(ctx(t), o, j.ID); return err },
		"Events":   func(o job.Owner) error { _, err := s.Events(ctx(t), o, j.ID, 0, 0); return err },
		"StartAttempt": func(o job.Owner) error {
			_, _, err := s.StartAttempt(ctx(t), job.Start{Owner: o, Job: j.ID, Actor: "x"})
			return err
		},
		"CancelJob": func(o job.Owner) error {
			_, err := s.CancelJob(ctx(t), job.Move{Owner: o, Job: j.ID, Actor: "x"})
			return err
		},
		"CancelAttempt": func(o job.Owner) error {
			_, err := s.CancelAttempt(ctx(t), job.Move{Owner: o, Job: j.ID, N: 1, Actor: "x"})
			return err
		},
		"ReleaseAttempt": func(o job.Owner) error {
			_, err := s.ReleaseAttempt(ctx(t), job.Move{Owner: o, Job: j.ID, N: 1, Actor: "x"})
			return err
		},
		"ResolveAttempt": func(o job.Owner) error {
			_, err := s.ResolveAttempt(ctx(t), job.Resolution{Move: job.Move{Owner: o, Job: j.ID, N: 1, Actor: "x"}, Outcome: job.OutcomeFailed})
			return err
		},
	}
	for name, call := range calls {
		if err := call("mallory"); !errors.Is(err, job.ErrNotFound) {
			t.Errorf("%s of another owner's job: %v", name, err)
		}
		if err := call("alice"); errors.Is(err, job.ErrNotFound) {
			t.Errorf("%s of one's own job: %v", name, err)
		}
	}
	for owner, want := range map[job.Owner]int{"alice": 1, "mallory": 0, job.AnyOwner: 1} {
		if jobs, err := s.Jobs(ctx(t), owner, job.Filter{}); err != nil || len(jobs) != want {
			t.Errorf("%s lists %d jobs, %v", owner, len(jobs), err)
		}
		if jobs, err := s.Jobs(ctx(t), owner, job.Filter{Status: job.StatusSucceeded}); err != nil || len(jobs) != want {
			t.Errorf("%s lists %d succeeded jobs, %v", owner, len(jobs), err)
		}
	}
}

// TestSubmitGoesByTheDatabase has the database lose a job behind the back of a
// process that remembers its key, as a failover to a replica that lags does.
func TestSubmitGoesByTheDatabase(t *testing.T) {
	s, url := open(t, postgres.Options{})
	first := submit(t, s, submission("k"))
	if again, created, err := s.Submit(ctx(t), submission("k")); err != nil || created || again.ID != first.ID {
		t.Fatalf("again: %+v, %v, %v", again, created, err)
	}
	sql(t, url, "TRUNCATE jobs, attempts, attempt_events CASCADE")
	anew, created, err := s.Submit(ctx(t), submission("k"))
	if err != nil || !created || anew.ID == first.ID {
		t.Errorf("after the loss: %+v, %v, %v", anew, created, err)
	}
}
