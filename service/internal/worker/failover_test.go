package worker_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/service/internal/failover"
	"github.com/interlock-harness/interlock/service/internal/job"
	"github.com/interlock-harness/interlock/service/internal/mutant"
	"github.com/interlock-harness/interlock/service/internal/postgres"
	"github.com/interlock-harness/interlock/service/internal/worker"
)

func automatic(providers ...string) func(*job.Intent) {
	return func(in *job.Intent) { in.Failover = job.Failover{Mode: "automatic", Providers: providers} }
}

func TestADefiniteFailureGoesOnElsewhere(t *testing.T) {
	notSent := reply{transcript: providers.Transcript{Reach: providers.ReachNotSent, End: providers.EndNone}}
	for name, r := range map[string]reply{"not sent": notSent, "refused": status(400), "rejected": rejects, "not to be built": {err: errors.New("no such profile")}} {
		t.Run(name, func(t *testing.T) {
			s := set(t, shut{"q": true}, "")
			s.provider.answers["p"], s.provider.answers["r"] = always(r), always(answer(`"r"`))
			j := s.submit("k", automatic("q", "r"))
			s.run(worker.Options{})
			s.eventually(j.ID, job.StatusSucceeded, `"r"`, "p failed,r succeeded")
			denied := s.events(j.ID, job.EventFailoverDenied)
			if len(denied) != 1 || string(denied[0].Detail) != `{"provider":"q","reasons":["no-certificate"]}` {
				t.Errorf("refusals are %+v", denied)
			}
		})
	}
}

func TestARefusalForLoadIsTriedAgainAfterItsTime(t *testing.T) {
	s := set(t, nil, "")
	s.provider.answers["p"] = func(_ context.Context, n int) reply {
		if n == 1 {
			return status(429, "Retry-After-Ms", "300")
		}
		return answer(`"ok"`)
	}
	j := s.submit("k", automatic())
	begun := time.Now()
	s.run(worker.Options{Poll: 10 * time.Millisecond})
	s.eventually(j.ID, job.StatusSucceeded, `"ok"`, "p failed,p succeeded")
	if took := time.Since(begun); took < 300*time.Millisecond {
		t.Errorf("called again after %s, asked for 300 ms", took)
	}
}

func TestTheBudgetEndsARetryStorm(t *testing.T) {
	s := set(t, nil, "")
	s.provider.answers["p"], s.provider.answers["q"] = always(status(429)), always(status(429))
	s.policy = failover.New(shut{}, failover.Options{FirstBackoff: time.Millisecond, MaxAttempts: 5})
	store, err := postgres.New(bounded(t), s.url, postgres.Options{Failover: s.policy})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	s.store = store
	j := s.submit("k", automatic("q"))
	s.run(worker.Options{Poll: 5 * time.Millisecond})
	s.eventually(j.ID, job.StatusFailed, "", "p failed,q failed,p failed,q failed,p failed")
	if n := len(s.provider.called()); n != 5 {
		t.Errorf("%d calls for a budget of 5", n)
	}
}

// changing is a gate that shuts after it was asked once.
type changing struct {
	mu    sync.Mutex
	asked int
}

func (g *changing) Refuses(from, to, contract string, at time.Time) []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.asked++; g.asked > 1 {
		return []string{"expired"}
	}
	return nil
}

func TestTheGateIsAskedAgainAtTheCall(t *testing.T) {
	for name, want := range map[string]string{"": "failed  [p failed,q failed]", "gate-asked-once": `succeeded "q" [p failed,q succeeded]`} {
		t.Run("mutant "+name, func(t *testing.T) {
			s := set(t, nil, "")
			s.policy = failover.New(&changing{}, failover.Options{})
			store, err := postgres.New(bounded(t), s.url, postgres.Options{Failover: s.policy})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(store.Close)
			s.store = store
			s.provider.answers["p"], s.provider.answers["q"] = always(status(400)), always(answer(`"q"`))
			m, _ := mutant.Choose(name)
			j := s.submit("k", automatic("q"))
			s.run(worker.Options{Mutant: m})
			for begun := time.Now(); s.look(j.ID) != want && time.Since(begun) < toHappen; time.Sleep(2 * time.Millisecond) {
			}
			if got := s.look(j.ID); got != want {
				t.Fatalf("job is %q, want %q", got, want)
			}
			if denied := len(s.events(j.ID, job.EventFailoverDenied)); name == "" && denied != 1 {
				t.Errorf("%d refusals are recorded", denied)
			}
		})
	}
}
