package postgres_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/interlock-harness/interlock/service/internal/job"
	"github.com/interlock-harness/interlock/service/internal/postgres"
)

func resolution(c job.Claimed, o job.Outcome, result string) job.Resolution {
	r := job.Resolution{Move: job.Move{Owner: job.AnyOwner, Job: c.Job.ID, N: c.Attempt.N, Actor: "operator:o", Reason: "asked"}, Outcome: o, Evidence: "ticket 7"}
	if result != "" {
		r.Result = json.RawMessage(result)
	}
	return r
}

func TestResolve(t *testing.T) {
	s, _ := open(t, postgres.Options{})
	t.Run("as succeeded stores the result, and the late answer makes one race", func(t *testing.T) {
		c := inState(t, s, "won", job.StateUnknown)
		a, err := s.ResolveAttempt(ctx(t), resolution(c, job.OutcomeSucceeded, `{"n":1}`))
		if err != nil || a.State != job.StateSucceeded {
			t.Fatalf("attempt is %+v, %v", a, err)
		}
		j := jobOf(t, s, c.Job.ID)
		if string(j.Result) != `{"n":1}` || j.CompletedBy != c.Attempt.ID || j.Version != 2 {
			t.Errorf("job is %+v", j)
		}
		if err := s.Complete(ctx(t), settlement(c, "ok"), json.RawMessage(`{"n":2}`)); !errors.Is(err, job.ErrLate) {
			t.Errorf("the late answer: %v", err)
		}
		races, err := s.Races(ctx(t), "alice", job.RaceFilter{Job: c.Job.ID})
		if err != nil || len(races) != 1 || races[0].Reason != "attempt-resolved" || races[0].Winner != c.Attempt.ID {
			t.Errorf("races are %+v, %v", races, err)
		}
		if j := jobOf(t, s, c.Job.ID); string(j.Result) != `{"n":1}` {
			t.Errorf("the result became %s", j.Result)
		}
		events, err := s.Events(ctx(t), "alice", c.Job.ID, 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, e := range events {
			found = found || e.To == job.StateSucceeded && e.From == job.StateUnknown && string(e.Detail) == `{"evidence":"ticket 7"}` && e.Actor == "operator:o"
		}
		if !found {
			t.Errorf("no event holds the evidence: %+v", events)
		}
	})
	t.Run("as succeeded after the job has ended is lost, with a race", func(t *testing.T) {
		a, b := twoContenders(t, s, "late")
		if err := s.Complete(ctx(t), settlement(b, "ok"), json.RawMessage(`1`)); err != nil {
			t.Fatal(err)
		}
		got, err := s.ResolveAttempt(ctx(t), resolution(a, job.OutcomeSucceeded, `2`))
		if err != nil || got.State != job.StateLost {
			t.Fatalf("attempt is %+v, %v", got, err)
		}
		races, err := s.Races(ctx(t), "alice", job.RaceFilter{Job: a.Job.ID})
		if err != nil || len(races) != 1 || races[0].Winner != b.Attempt.ID {
			t.Errorf("races are %+v, %v", races, err)
		}
	})
	t.Run("as failed may go on by policy", func(t *testing.T) {
		var asked job.Failure
		p := policy{next: func(_ job.Job, attempts []job.Attempt, f job.Failure) job.Decision {
			asked = f
			if last := attempts[len(attempts)-1]; last.State != job.StateFailed || last.Reason != "asked" {
				t.Errorf("the policy sees %+v", last)
			}
			return job.Decision{Provider: "q"}
		}}
		s, _ := open(t, postgres.Options{Failover: p})
		c := inState(t, s, "failed", job.StateUnknown)
		if _, err := s.ResolveAttempt(ctx(t), resolution(c, job.OutcomeFailed, "")); err != nil {
			t.Fatal(err)
		}
		if got := states(t, s, c.Job.ID); got != "failed starting " || asked.Class != job.ClassResolved {
			t.Errorf("attempts are %s after %+v", got, asked)
		}
	})
	t.Run("an operator's cancel never goes on by itself", func(t *testing.T) {
		p := policy{next: func(job.Job, []job.Attempt, job.Failure) job.Decision {
			t.Error("the policy was asked")
			return job.Decision{}
		}}
		s, _ := open(t, postgres.Options{Failover: p})
		inState(t, s, "cancelled", job.StateCancelled)
	})
	t.Run("a late failure makes no race", func(t *testing.T) {
		c := inState(t, s, "quiet", job.StateSucceeded)
		if err := s.Fail(ctx(t), settlement(c, "refused.400")); !errors.Is(err, job.ErrAttemptTerminal) {
			t.Errorf("got %v", err)
		}
		if races, err := s.Races(ctx(t), "alice", job.RaceFilter{Job: c.Job.ID}); err != nil || len(races) != 0 {
			t.Errorf("races are %+v, %v", races, err)
		}
	})
	t.Run("of an attempt that does not exist", func(t *testing.T) {
		c := inState(t, s, "none", job.StateUnknown)
		r := resolution(c, job.OutcomeFailed, "")
		r.N = 7
		if _, err := s.ResolveAttempt(ctx(t), r); !errors.Is(err, job.ErrNotFound) {
			t.Errorf("got %v", err)
		}
	})
}

// What follows a failure is stored with it, or not at all.
func TestAFailureAndWhatFollowsAreOneTransaction(t *testing.T) {
	denied := []job.Denial{{Provider: "q", Reasons: []string{"expired"}}}
	next := policy{next: func(job.Job, []job.Attempt, job.Failure) job.Decision {
		return job.Decision{Provider: "r", Reason: "failover", Denied: denied}
	}}
	s, url := open(t, postgres.Options{Failover: next})
	c := running(t, s, submission("k"))
	if err := s.Fail(ctx(t), settlement(c, "refused.429")); err != nil {
		t.Fatal(err)
	}
	if got := states(t, s, c.Job.ID); got != "failed starting " {
		t.Errorf("attempts are %s", got)
	}
	// one operation id for the failure, the refusal and the start
	if n := value[int](t, url, "SELECT count(DISTINCT operation_id) FROM attempt_events WHERE to_state IN ('failed') OR type = 'failover.denied' OR actor = 'failover'"); n != 1 {
		t.Errorf("%d transactions", n)
	}
	if n := value[int](t, url, "SELECT count(*) FROM attempt_events WHERE type = 'failover.denied' AND detail ->> 'provider' = 'q'"); n != 1 {
		t.Errorf("%d refusals are told", n)
	}

	if _, err := s.CancelJob(ctx(t), job.Move{Owner: "alice", Job: c.Job.ID, Actor: "test"}); err != nil {
		t.Fatal(err)
	}

	// a job that is finished wants nothing more, and neither does one with an open attempt
	a, b := twoContenders(t, s, "busy")
	if err := s.Fail(ctx(t), settlement(a, "refused.429")); err != nil {
		t.Fatal(err)
	}
	if got := states(t, s, a.Job.ID); got != "failed running " {
		t.Errorf("attempts are %s", got)
	}
	if err := s.Complete(ctx(t), settlement(b, "ok"), json.RawMessage(`1`)); err != nil {
		t.Fatal(err)
	}
}
