package worker_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/service/internal/job"
	"github.com/interlock-harness/interlock/service/internal/mutant"
	"github.com/interlock-harness/interlock/service/internal/worker"
)

func TestAnAnswerBecomesTheResult(t *testing.T) {
	s := set(t, nil, "")
	s.provider.answers["p"] = always(answer(`{"n": 1.0}`))
	j := s.submit("k", nil)
	s.run(worker.Options{})
	s.eventually(j.ID, job.StatusSucceeded, `{"n": 1.0}`, "p succeeded")
	s.provider.mu.Lock()
	defer s.provider.mu.Unlock()
	h := s.provider.headers[0]
	if len(s.provider.calls) != 1 || h.Get("X-Job-Id") != string(j.ID) || h.Get("X-Attempt-Id") == "" {
		t.Errorf("calls %v with header %v", s.provider.calls, h)
	}
}

func TestALateAnswerResolvesTheUnknown(t *testing.T) {
	s := set(t, nil, "")
	gate := make(held)
	s.provider.answers["p"] = gate.then(answer(`"late"`))
	s.provider.answers["r"] = always(answer(`"other"`))
	j := s.submit("k", func(in *job.Intent) { in.DeadlineMS = 30; automatic("q")(in) })
	s.run(worker.Options{Concurrency: 1})
	s.eventually(j.ID, job.StatusUnknown, "", "p unknown")

	// the held call takes no place from others, and nothing follows on unknown
	other := s.submit("k2", func(in *job.Intent) { in.Provider = "r" })
	s.eventually(other.ID, job.StatusSucceeded, `"other"`, "r succeeded")
	if got := s.look(j.ID); got != "unknown  [p unknown]" {
		t.Errorf("meanwhile the first job is %q", got)
	}
	close(gate)
	s.eventually(j.ID, job.StatusSucceeded, `"late"`, "p succeeded")
	if n := len(s.provider.called()); n != 2 {
		t.Errorf("%d calls for two attempts", n)
	}
}

func TestARaceReleasesAtTheDeadlineAndOneWins(t *testing.T) {
	s := set(t, nil, "")
	first, second := make(held), make(held)
	s.provider.answers["p"], s.provider.answers["q"] = first.then(answer(`"p"`)), second.then(answer(`"q"`))
	j := s.submit("k", func(in *job.Intent) { in.DeadlineMS = 100; in.Race = true; automatic("q")(in) })
	s.run(worker.Options{})
	s.arrived(2)
	close(second)
	s.eventually(j.ID, job.StatusSucceeded, `"q"`, "p released,q succeeded")
	close(first)
	s.eventually(j.ID, job.StatusSucceeded, `"q"`, "p lost,q succeeded")
	if r := s.races(j.ID); len(r) != 1 || r[0].N != 1 || r[0].Reason != "late" || r[0].PayloadBytes != 3 || r[0].PayloadSHA256 != sha256.Sum256([]byte(`"p"`)) {
		t.Errorf("races are %+v", r)
	}
}

func TestAnUnknownOutcomeStaysWhereItIs(t *testing.T) {
	for name, r := range map[string]reply{
		"reset":         {transcript: providers.Transcript{Reach: providers.ReachSent, End: providers.EndReset}},
		"500":           status(500),
		"409":           status(409),
		"panic of ours": {panics: true},
	} {
		t.Run(name, func(t *testing.T) {
			s := set(t, nil, "")
			s.provider.answers["p"] = always(r)
			j := s.submit("k", automatic("q"))
			s.run(worker.Options{})
			s.eventually(j.ID, job.StatusUnknown, "", "p unknown")
			if n := len(s.provider.called()); n != 1 {
				t.Errorf("%d calls", n)
			}
		})
	}
}

func TestMutantsOfTheCall(t *testing.T) {
	for name, c := range map[string]struct {
		first reply
		calls int
		want  string
	}{
		"hidden-retries":        {status(500), 2, `succeeded "second" [p succeeded]`},
		"second-call-on-reject": {rejects, 2, `succeeded "second" [p succeeded]`},
		"":                      {rejects, 1, "failed  [p failed]"},
	} {
		t.Run("mutant "+name, func(t *testing.T) {
			s := set(t, nil, "")
			s.provider.answers["p"] = func(_ context.Context, n int) reply {
				if n == 1 {
					return c.first
				}
				return answer(`"second"`)
			}
			m, _ := mutant.Choose(name)
			j := s.submit("k", nil)
			s.run(worker.Options{Mutant: m})
			for begun := time.Now(); s.look(j.ID) != c.want && time.Since(begun) < toHappen; time.Sleep(2 * time.Millisecond) {
			}
			if got, n := s.look(j.ID), len(s.provider.called()); got != c.want || n != c.calls {
				t.Errorf("job is %q after %d calls, want %q after %d", got, n, c.want, c.calls)
			}
		})
	}
	t.Run("deadline-is-failure", func(t *testing.T) {
		s := set(t, nil, "")
		s.provider.answers["p"] = make(held).then(reply{})
		m, _ := mutant.Choose("deadline-is-failure")
		j := s.submit("k", func(in *job.Intent) { in.DeadlineMS = 20 })
		s.run(worker.Options{Mutant: m})
		s.eventually(j.ID, job.StatusFailed, "", "p failed")
	})
}

// Work that outlives its timeouts is not begun again, however often somebody looks:
// the deadline, the reaper, other workers, and clicks on retry.
func TestFiveTimeoutsAreOneCall(t *testing.T) {
	s := set(t, nil, "")
	gate := make(held)
	s.provider.answers["p"], s.provider.answers["r"] = gate.then(answer(`"at last"`)), always(answer(`1`))
	j := s.submit("k", func(in *job.Intent) { in.DeadlineMS = 20; automatic("p", "q")(in) })
	s.run(worker.Options{})
	s.eventually(j.ID, job.StatusUnknown, "", "p unknown")
	for i := range 5 {
		s.run(worker.Options{Name: fmt.Sprint("another-", i)})
		if n, err := s.store.ReapLeases(bounded(t)); n != 0 || err != nil {
			t.Errorf("reaped %d, %v", n, err)
		}
		var open *job.InFlightError
		if _, _, err := s.store.StartAttempt(bounded(t), job.Start{Owner: "alice", Job: j.ID, Actor: "owner:alice"}); !errors.As(err, &open) {
			t.Errorf("a click on retry: %v", err)
		}
		other := s.submit(job.Key(fmt.Sprint("other-", i)), func(in *job.Intent) { in.Provider = "r" })
		s.eventually(other.ID, job.StatusSucceeded, `1`, "r succeeded") // the workers are awake
	}
	close(gate)
	s.eventually(j.ID, job.StatusSucceeded, `"at last"`, "p succeeded")
	if n := s.provider.count["p"] + s.provider.count["q"]; n != 1 {
		t.Errorf("%d calls for one attempt", n)
	}
}
