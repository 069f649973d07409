package worker_test

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/interlock-harness/interlock/service/internal/job"
	"github.com/interlock-harness/interlock/service/internal/mutant"
	"github.com/interlock-harness/interlock/service/internal/worker"
)

func TestStoppingLetsFinishOrLeavesUnknown(t *testing.T) {
	t.Run("an answer within the grace is stored", func(t *testing.T) {
		s := set(t, nil, "")
		gate := make(held)
		s.provider.answers["p"] = gate.then(answer(`"in time"`))
		j := s.submit("k", nil)
		stop := s.run(worker.Options{Grace: toHappen})
		s.arrived(1)
		go close(gate)
		stop()
		s.eventually(j.ID, job.StatusSucceeded, `"in time"`, "p succeeded")
	})
	t.Run("no answer within the grace is unknown", func(t *testing.T) {
		s := set(t, nil, "")
		s.provider.answers["p"] = make(held).then(reply{})
		j := s.submit("k", automatic("q"))
		stop := s.run(worker.Options{Grace: 10 * time.Millisecond})
		s.arrived(1)
		stop()
		if got := s.look(j.ID); got != "unknown  [p unknown]" {
			t.Errorf("job is %q", got)
		}
	})
	t.Run("the mutant calls it failed", func(t *testing.T) {
		s := set(t, nil, "")
		s.provider.answers["p"] = make(held).then(reply{})
		j := s.submit("k", nil)
		m, _ := mutant.Choose("shutdown-is-failure")
		stop := s.run(worker.Options{Mutant: m})
		s.arrived(1)
		stop()
		if got := s.look(j.ID); got != "failed  [p failed]" {
			t.Errorf("job is %q", got)
		}
	})
}

func TestHeartbeatsKeepALeaseAndTheReaperEndsOneThatIsNotKept(t *testing.T) {
	s := set(t, nil, "")
	gate := make(held)
	s.provider.answers["p"] = gate.then(answer(`"slow but alive"`))
	ctx, cancel := context.WithCancel(context.Background())
	reaped := make(chan struct{})
	go func() {
		defer close(reaped)
		worker.Reap(ctx, s.store, 5*time.Millisecond, slog.New(slog.DiscardHandler))
	}()
	defer func() { cancel(); <-reaped }()

	alive := s.submit("k", nil)
	s.run(worker.Options{Name: "w1", Lease: 300 * time.Millisecond, Heartbeat: 30 * time.Millisecond})
	s.arrived(1)
	// somebody whose heart does not beat
	dead := s.submit("k2", func(in *job.Intent) { in.Provider = "nobody" })
	if _, err := s.store.Claim(bounded(t), "w2", 100*time.Millisecond, 1); err != nil {
		t.Fatal(err)
	}
	s.eventually(dead.ID, job.StatusUnknown, "", "nobody unknown")
	if got := s.look(alive.ID); got != "running  [p running]" {
		t.Errorf("the one with a heartbeat is %q", got)
	}
	close(gate)
	s.eventually(alive.ID, job.StatusSucceeded, `"slow but alive"`, "p succeeded")
}

func TestConcurrencyIsBounded(t *testing.T) {
	s := set(t, nil, "")
	var mu sync.Mutex
	now, most := map[string]int{}, map[string]int{}
	for _, name := range []string{"p", "q"} {
		s.provider.answers[name] = func(context.Context, int) reply {
			mu.Lock()
			now[name]++
			now["all"]++
			most[name], most["all"] = max(most[name], now[name]), max(most["all"], now["all"])
			mu.Unlock()
			time.Sleep(3 * time.Millisecond) // long enough to overlap; no order depends on it
			mu.Lock()
			now[name]--
			now["all"]--
			mu.Unlock()
			return answer(`1`)
		}
	}
	var jobs []job.Job
	for i := range 40 {
		jobs = append(jobs, s.submit(job.Key(fmt.Sprint(i)), func(in *job.Intent) { in.Provider = []string{"p", "p", "q"}[i%3] }))
	}
	s.run(worker.Options{Concurrency: 5, PerProvider: 3})
	for _, j := range jobs {
		s.eventually(j.ID, job.StatusSucceeded, `1`, j.Intent.Provider+" succeeded")
	}
	mu.Lock()
	defer mu.Unlock()
	if most["all"] > 5 || most["p"] > 3 || most["q"] > 3 {
		t.Errorf("at once: %v, allowed 5 and 3 each", most)
	}
	if most["p"] < 2 {
		t.Errorf("nothing ran at once: %v", most)
	}
	if n := len(s.provider.called()); n != 40 {
		t.Errorf("%d calls for 40 attempts", n)
	}
}
