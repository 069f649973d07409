package postgres_test

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/interlock-harness/interlock/service/internal/job"
	"github.com/interlock-harness/interlock/service/internal/postgres"
)

// twoContenders is a job with a released and a running attempt.
func twoContenders(t testing.TB, s *postgres.Store, key job.Key) (a, b job.Claimed) {
	t.Helper()
	a = running(t, s, submission(key))
	if _, err := s.MarkUnknown(ctx(t), settlement(a, "deadline")); err != nil {
		t.Fatal(err)
	}
	if _, err := s.ReleaseAttempt(ctx(t), job.Move{Owner: job.AnyOwner, Job: a.Job.ID, N: 1, Actor: "operator:o"}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.StartAttempt(ctx(t), job.Start{Owner: "alice", Job: a.Job.ID, Provider: "q", Actor: "owner:alice"}); err != nil {
		t.Fatal(err)
	}
	return a, claim(t, s, "w")
}

func TestSimultaneousFinishesHaveOneWinnerEach(t *testing.T) {
	s, url := open(t, postgres.Options{PoolSize: 32, Patience: toStore}) // this is about who wins, not how soon
	for round := range rounds(t, 1) {
		finishAtOnce(t, s, url, fmt.Sprint("round-", round, "-"), 500)
		if t.Failed() {
			t.Fatalf("in round %d", round+1)
		}
	}
}

// finishAtOnce gives so many jobs two contenders each and has both finish at the
// same time.
func finishAtOnce(t *testing.T, s *postgres.Store, url, prefix string, jobs int) {
	t.Helper()
	type pair struct{ a, b job.Claimed }
	pairs := make([]pair, jobs)
	number := map[job.ID]int{}
	for i := range jobs {
		number[submit(t, s, submission(job.Key(fmt.Sprint(prefix, i)))).ID] = i
	}
	for _, c := range claimAll(t, s, jobs) {
		pairs[number[c.Job.ID]].a = c
	}
	together(8, func(worker int) {
		for i := worker; i < jobs; i += 8 {
			a := pairs[i].a
			_, err1 := s.MarkUnknown(ctx(t), settlement(a, "deadline"))
			_, err2 := s.ReleaseAttempt(ctx(t), job.Move{Owner: job.AnyOwner, Job: a.Job.ID, N: 1, Actor: "operator:o"})
			_, _, err3 := s.StartAttempt(ctx(t), job.Start{Owner: "alice", Job: a.Job.ID, Provider: "q", Actor: "owner:alice"})
			if err := errors.Join(err1, err2, err3); err != nil {
				t.Error(err)
			}
		}
	})
	for _, c := range claimAll(t, s, jobs) {
		pairs[number[c.Job.ID]].b = c
	}
	var won, late atomic.Int64
	for from := 0; from < jobs; from += 16 {
		batch := pairs[from:min(from+16, jobs)]
		together(2*len(batch), func(i int) {
			c := batch[i/2].a
			if i%2 == 1 {
				c = batch[i/2].b
			}
			switch err := s.Complete(ctx(t), settlement(c, "ok"), json.RawMessage(`"`+c.Attempt.ID+`"`)); {
			case err == nil:
				won.Add(1)
			case errors.Is(err, job.ErrLate):
				late.Add(1)
			default:
				t.Error(err)
			}
		})
	}
	if won.Load() != int64(jobs) || late.Load() != int64(jobs) {
		t.Errorf("%d won, %d late, want %d each", won.Load(), late.Load(), jobs)
	}
	for what, query := range map[string]string{
		"jobs whose result is not the winner's own": `SELECT count(*) FROM jobs WHERE result #>> '{}' <> completed_by::text OR version <> 2`,
		"jobs without exactly one winner":           `SELECT count(*) FROM jobs j WHERE (SELECT count(*) FROM attempts a WHERE a.job_id = j.id AND state = 'succeeded' AND a.id = j.completed_by) <> 1`,
		"jobs without exactly one loser and race":   `SELECT count(*) FROM jobs j WHERE (SELECT count(*) FROM attempts a JOIN races r ON r.attempt_id = a.id WHERE a.job_id = j.id AND state = 'lost' AND r.winner_id = j.completed_by) <> 1`,
	} {
		if n := value[int](t, url, query); n != 0 {
			t.Errorf("%d %s", n, what)
		}
	}
}

func TestReverseOrder(t *testing.T) {
	s, _ := open(t, postgres.Options{})
	result := func(c job.Claimed) json.RawMessage { return json.RawMessage(`"` + c.Attempt.Provider + `"`) }
	t.Run("the late first is lost and told once", func(t *testing.T) {
		a, b := twoContenders(t, s, "late first")
		if err := s.Complete(ctx(t), settlement(b, "ok"), result(b)); err != nil {
			t.Fatal(err)
		}
		for range 3 { // a settlement may be repeated
			if err := s.Complete(ctx(t), settlement(a, "ok"), result(a)); !errors.Is(err, job.ErrLate) {
				t.Fatalf("got %v", err)
			}
		}
		j := jobOf(t, s, a.Job.ID)
		if string(j.Result) != `"q"` || j.CompletedBy != b.Attempt.ID || j.Version != 2 {
			t.Errorf("job is %+v", j)
		}
		races, err := s.Races(ctx(t), "alice", job.RaceFilter{Job: a.Job.ID})
		if err != nil || len(races) != 1 {
			t.Fatalf("%d races, %v", len(races), err)
		}
		r := races[0]
		if r.Attempt != a.Attempt.ID || r.Winner != b.Attempt.ID || r.Reason != "late" || r.PayloadSHA256 != sha256.Sum256(result(a)) || r.PayloadBytes != 3 || r.N != 1 || !r.StartedAt.Equal(a.Attempt.StartedAt) {
			t.Errorf("race is %+v", r)
		}
	})
	t.Run("the released first wins when it is first", func(t *testing.T) {
		a, b := twoContenders(t, s, "first first")
		if err := s.Complete(ctx(t), settlement(a, "ok"), result(a)); err != nil {
			t.Fatal(err)
		}
		if err := s.Complete(ctx(t), settlement(b, "ok"), result(b)); !errors.Is(err, job.ErrLate) {
			t.Fatalf("got %v", err)
		}
		if got := states(t, s, a.Job.ID); got != "succeeded lost " {
			t.Errorf("attempts are %s", got)
		}
	})
	t.Run("the second fails, then the first wins", func(t *testing.T) {
		a, b := twoContenders(t, s, "second fails")
		if err := s.Fail(ctx(t), settlement(b, "refused.400")); err != nil {
			t.Fatal(err)
		}
		if j := jobOf(t, s, a.Job.ID); j.Status != job.StatusOpen {
			t.Errorf("with a released contender the job is %s", j.Status)
		}
		if err := s.Complete(ctx(t), settlement(a, "ok"), result(a)); err != nil {
			t.Fatal(err)
		}
		if got := states(t, s, a.Job.ID); got != "succeeded failed " {
			t.Errorf("attempts are %s", got)
		}
	})
	t.Run("a cancelled first can never win", func(t *testing.T) {
		a, b := twoContenders(t, s, "cancelled first")
		if _, err := s.CancelAttempt(ctx(t), job.Move{Owner: job.AnyOwner, Job: a.Job.ID, N: 1, Actor: "operator:o"}); err != nil {
			t.Fatal(err)
		}
		if err := s.Complete(ctx(t), settlement(a, "ok"), result(a)); !errors.Is(err, job.ErrLate) {
			t.Fatalf("got %v", err)
		}
		if j := jobOf(t, s, a.Job.ID); j.Status != job.StatusRunning || j.Version != 1 {
			t.Errorf("job is %+v", j)
		}
		if err := s.Complete(ctx(t), settlement(b, "ok"), result(b)); err != nil {
			t.Fatal(err)
		}
		races, err := s.Races(ctx(t), "alice", job.RaceFilter{Job: a.Job.ID})
		if err != nil || len(races) != 1 || races[0].Winner != "" || races[0].Reason != "attempt-cancelled" {
			t.Errorf("races are %+v, %v", races, err)
		}
	})
}

func TestCancelOfTheJob(t *testing.T) {
	s, _ := open(t, postgres.Options{})
	t.Run("ends what was not begun, and the answer of what runs is lost", func(t *testing.T) {
		a, b := twoContenders(t, s, "k")
		if err := s.Fail(ctx(t), settlement(b, "refused.400")); err != nil {
			t.Fatal(err)
		}
		if _, _, err := s.StartAttempt(ctx(t), job.Start{Owner: "alice", Job: a.Job.ID, Actor: "owner:alice"}); err != nil {
			t.Fatal(err)
		}
		j, err := s.CancelJob(ctx(t), job.Move{Owner: "alice", Job: a.Job.ID, Actor: "owner:alice", Reason: "changed my mind"})
		if err != nil || j.Status != job.StatusCancelled || j.Version != 2 || j.CancelledAt == nil {
			t.Fatalf("job is %+v, %v", j, err)
		}
		if got := states(t, s, j.ID); got != "released failed cancelled " {
			t.Errorf("attempts are %s", got)
		}
		if err := s.Complete(ctx(t), settlement(a, "ok"), json.RawMessage(`1`)); !errors.Is(err, job.ErrLate) {
			t.Fatalf("got %v", err)
		}
		races, err := s.Races(ctx(t), "alice", job.RaceFilter{Job: j.ID})
		if err != nil || len(races) != 1 || races[0].Winner != "" || races[0].Reason != "job-cancelled" {
			t.Errorf("races are %+v, %v", races, err)
		}
		if got := states(t, s, j.ID); got != "lost failed cancelled " {
			t.Errorf("attempts are %s", got)
		}
	})
	t.Run("of a finished job is refused and changes nothing", func(t *testing.T) {
		c := inState(t, s, "done", job.StateSucceeded)
		before := jobOf(t, s, c.Job.ID)
		if _, err := s.CancelJob(ctx(t), job.Move{Owner: "alice", Job: c.Job.ID, Actor: "owner:alice"}); !errors.Is(err, job.ErrTerminal) {
			t.Errorf("got %v", err)
		}
		if after := jobOf(t, s, c.Job.ID); after.LastEvent != before.LastEvent || after.Status != job.StatusSucceeded {
			t.Errorf("job became %+v", after)
		}
	})
	t.Run("with a stale match is refused", func(t *testing.T) {
		j := submit(t, s, submission("match"))
		var stale *job.VersionError
		for _, m := range []job.Match{{Version: 2}, {Version: 1, Event: j.LastEvent - 1}} {
			if _, err := s.CancelJob(ctx(t), job.Move{Owner: "alice", Job: j.ID, Actor: "owner:alice", Match: &m}); !errors.As(err, &stale) || stale.Have != 1 {
				t.Errorf("match %+v: %v", m, err)
			}
		}
		if _, err := s.CancelJob(ctx(t), job.Move{Owner: "alice", Job: j.ID, Actor: "owner:alice", Match: &job.Match{Version: 1, Event: j.LastEvent}}); err != nil {
			t.Error(err)
		}
	})
	t.Run("against a finish has one outcome", func(t *testing.T) {
		for i := range 40 {
			c := running(t, s, submission(job.Key(fmt.Sprint("versus", i))))
			var completed, cancelled error
			together(2, func(i int) {
				if i == 0 {
					completed = s.Complete(ctx(t), settlement(c, "ok"), json.RawMessage(`1`))
				} else {
					_, cancelled = s.CancelJob(ctx(t), job.Move{Owner: "alice", Job: c.Job.ID, Actor: "owner:alice"})
				}
			})
			j := jobOf(t, s, c.Job.ID)
			switch {
			case completed == nil && errors.Is(cancelled, job.ErrTerminal) && j.Status == job.StatusSucceeded && j.Version == 2:
			case errors.Is(completed, job.ErrLate) && cancelled == nil && j.Status == job.StatusCancelled && j.Version == 2:
			default:
				t.Errorf("completed %v, cancelled %v, job %+v", completed, cancelled, j)
			}
		}
	})
}

func TestAJobThatIsDoneCancelsWhatWasNotBegun(t *testing.T) {
	s, _ := open(t, postgres.Options{})
	a, b := twoContenders(t, s, "k")
	if err := s.Fail(ctx(t), settlement(b, "refused.400")); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.StartAttempt(ctx(t), job.Start{Owner: "alice", Job: a.Job.ID, Actor: "owner:alice"}); err != nil {
		t.Fatal(err)
	}
	if err := s.Complete(ctx(t), settlement(a, "ok"), json.RawMessage(`1`)); err != nil {
		t.Fatal(err)
	}
	if got := states(t, s, a.Job.ID); got != "succeeded failed cancelled " {
		t.Errorf("attempts are %s", got)
	}
	if c, err := s.Claim(ctx(t), "w", time.Minute, 10); err != nil || len(c) != 0 {
		t.Errorf("claimed %d attempts of a finished job, %v", len(c), err)
	}
}
