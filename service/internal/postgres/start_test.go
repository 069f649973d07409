package postgres_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/interlock-harness/interlock/service/internal/job"
	"github.com/interlock-harness/interlock/service/internal/postgres"
)

func TestStartsOfManyAtOnceGiveOneAttempt(t *testing.T) {
	s, url := open(t, postgres.Options{PoolSize: 32})
	for round := range rounds(t, 5) {
		c := inState(t, s, job.Key(fmt.Sprint(round)), job.StateFailed)
		var mu sync.Mutex
		started, inFlight := 0, 0
		together(32, func(int) {
			_, replayed, err := s.StartAttempt(ctx(t), job.Start{Owner: "alice", Job: c.Job.ID, Actor: "owner:alice"})
			mu.Lock()
			defer mu.Unlock()
			var open *job.InFlightError
			switch {
			case err == nil && !replayed:
				started++
			case errors.As(err, &open) && open.State == job.StateStarting && open.Attempt != "":
				inFlight++
			default:
				t.Errorf("replayed %v, %v", replayed, err)
			}
		})
		if started != 1 || inFlight != 31 {
			t.Errorf("%d started, %d refused, want 1 and 31", started, inFlight)
		}
		if n := value[int](t, url, "SELECT count(*) FROM attempts WHERE job_id = $1", string(c.Job.ID)); n != 2 {
			t.Errorf("%d attempts, want 2", n)
		}
		claim(t, s, "w") // leave nothing for the next round
	}
}

func TestStartWithATriggerKey(t *testing.T) {
	s, _ := open(t, postgres.Options{PoolSize: 32})
	c := inState(t, s, "k", job.StateFailed)
	click := job.Start{Owner: "alice", Job: c.Job.ID, Provider: "q", TriggerKey: "click", TriggerFingerprint: [32]byte{1}, Actor: "owner:alice"}
	var mu sync.Mutex
	ids, fresh := map[job.AttemptID]bool{}, 0
	together(32, func(int) {
		a, replayed, err := s.StartAttempt(ctx(t), click)
		mu.Lock()
		defer mu.Unlock()
		if err != nil {
			t.Error(err)
			return
		}
		ids[a.ID] = true
		if !replayed {
			fresh++
		}
		if a.Provider != "q" || a.N != 2 || a.TriggerKey != "click" {
			t.Errorf("attempt is %+v", a)
		}
	})
	if len(ids) != 1 || fresh != 1 {
		t.Errorf("%d attempts, %d new, want one of each", len(ids), fresh)
	}

	t.Run("comes before a stale match, a finished job and the gate", func(t *testing.T) {
		b := claim(t, s, "w")
		if err := s.Complete(ctx(t), settlement(b, "ok"), []byte(`1`)); err != nil {
			t.Fatal(err)
		}
		again := click
		again.Match = &job.Match{Version: 99}
		a, replayed, err := s.StartAttempt(ctx(t), again)
		if err != nil || !replayed || a.ID != b.Attempt.ID || a.State != job.StateSucceeded {
			t.Errorf("attempt is %+v, replayed %v, %v", a, replayed, err)
		}
	})
	t.Run("with another input is a conflict", func(t *testing.T) {
		other := click
		other.TriggerFingerprint = [32]byte{2}
		var conflict *job.KeyConflictError
		if _, _, err := s.StartAttempt(ctx(t), other); !errors.As(err, &conflict) || conflict.JobID != c.Job.ID {
			t.Errorf("got %v", err)
		}
	})
	t.Run("means something within its job only", func(t *testing.T) {
		other := click
		other.Job = inState(t, s, "k2", job.StateFailed).Job.ID
		if _, replayed, err := s.StartAttempt(ctx(t), other); err != nil || replayed {
			t.Errorf("replayed %v, %v", replayed, err)
		}
	})
}

func TestStartIsRefusedInOrder(t *testing.T) {
	s, url := open(t, postgres.Options{Failover: policy{refuse: []string{"q"}}})
	stale := &job.Match{Version: 99}
	start := func(id job.ID, provider string, m *job.Match) error {
		_, _, err := s.StartAttempt(ctx(t), job.Start{Owner: "alice", Job: id, Provider: provider, Match: m, Actor: "owner:alice"})
		return err
	}
	done, unknown, failed := inState(t, s, "done", job.StateSucceeded), inState(t, s, "unknown", job.StateUnknown), inState(t, s, "failed", job.StateFailed)
	var version *job.VersionError
	if err := start(done.Job.ID, "q", stale); !errors.As(err, &version) || version.Have != 2 {
		t.Errorf("stale match first: %v", err)
	}
	if err := start(done.Job.ID, "q", nil); !errors.Is(err, job.ErrTerminal) {
		t.Errorf("finished job before the gate: %v", err)
	}
	var open *job.InFlightError
	if err := start(unknown.Job.ID, "q", nil); !errors.As(err, &open) || open.State != job.StateUnknown || open.Attempt != unknown.Attempt.ID {
		t.Errorf("attempt in flight before the gate: %v", err)
	}
	var denied *job.NotCertifiedError
	if err := start(failed.Job.ID, "q", nil); !errors.As(err, &denied) || denied.Provider != "q" || len(denied.Reasons) != 1 {
		t.Errorf("the gate: %v", err)
	}
	if n := value[int](t, url, "SELECT count(*) FROM attempts WHERE job_id = $1", string(failed.Job.ID)); n != 1 {
		t.Errorf("a refused start left %d attempts", n)
	}
	events, err := s.Events(ctx(t), "alice", failed.Job.ID, 0, 0)
	if e := events[len(events)-1]; err != nil || e.Type != job.EventFailoverDenied || string(e.Detail) != `{"provider":"q","reasons":["not certified"]}` {
		t.Errorf("the refusal is told as %+v, %v", e, err)
	}
	if err := start(failed.Job.ID, "", nil); err != nil {
		t.Errorf("the provider of the intent: %v", err)
	}
}

// policy refuses some providers, and goes on as next says.
type policy struct {
	refuse []string
	next   func(j job.Job, attempts []job.Attempt, f job.Failure) job.Decision
}

func (p policy) Allow(_ job.Job, provider string) []string {
	for _, r := range p.refuse {
		if r == provider {
			return []string{"not certified"}
		}
	}
	return nil
}

func (p policy) Next(j job.Job, attempts []job.Attempt, f job.Failure) job.Decision {
	if p.next == nil {
		return job.Decision{}
	}
	return p.next(j, attempts, f)
}

func TestAttemptsNeverTouchTheJob(t *testing.T) {
	s, url := open(t, postgres.Options{})
	const xmin = "SELECT xmin::text || ctid::text FROM jobs"
	c := inState(t, s, "k", job.StateFailed)
	before := value[string](t, url, xmin)
	for range 5 {
		if _, _, err := s.StartAttempt(ctx(t), job.Start{Owner: "alice", Job: c.Job.ID, Actor: "owner:alice"}); err != nil {
			t.Fatal(err)
		}
		if err := s.Fail(ctx(t), settlement(claim(t, s, "w"), "refused.400")); err != nil {
			t.Fatal(err)
		}
	}
	if after := value[string](t, url, xmin); after != before {
		t.Errorf("the row of the job moved from %s to %s while attempts came and went", before, after)
	}
	if j := jobOf(t, s, c.Job.ID); j.Version != 1 || j.Attempts != 6 || j.Status != job.StatusFailed {
		t.Errorf("job is %+v", j)
	}
}
