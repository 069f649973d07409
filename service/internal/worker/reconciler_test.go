package worker_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/standin"
	"github.com/interlock-harness/interlock/service/internal/job"
	"github.com/interlock-harness/interlock/service/internal/worker"
)

// background is a stage whose provider works in the background.
type background struct {
	*routed
	provider *standin.Server
}

func setBackground(t *testing.T) *background {
	t.Helper()
	s := setRoutes(t)
	p, err := standin.Start(standin.Options{Protocol: providers.OpenAIResponses, Model: "m", Fallback: func(standin.Ask) string { return answerOfTriage }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	s.routes.profiles["b"] = providers.Profile{Name: "b", Protocol: providers.OpenAIResponses, BaseURL: p.URL(), Model: "m", AllowLoopback: true, Background: true}
	return &background{routed: s, provider: p}
}

// plan asks quickly and soon has had enough.
var plan = job.AskPlan{First: time.Millisecond, Longest: 20 * time.Millisecond, Most: 5}

// reconcile starts a reconciler; it is stopped at the end.
func (s *background) reconcile(plan job.AskPlan) {
	s.t.Helper()
	log := slog.New(slog.DiscardHandler)
	if testing.Verbose() {
		log = slog.New(slog.NewTextHandler(os.Stderr, nil))
	}
	r := &worker.Reconciler{Store: s.store, Asker: s.routes, Judge: s.routes, Plan: plan, Every: 2 * time.Millisecond, Log: log}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { r.Run(ctx) })
	s.t.Cleanup(func() { cancel(); running.Wait() })
}

func inBackground(in *job.Intent) { triage(in); in.Provider = "b" }

// abandoned submits a job whose work is held at the provider, and loses its worker
// after the provider has taken it.
func (s *background) abandoned(key job.Key, change func(*job.Intent)) (job.Job, *standin.Gate) {
	s.t.Helper()
	gate := s.provider.Hold(standin.Match{})
	j := s.submit(key, func(in *job.Intent) {
		inBackground(in)
		if change != nil {
			change(in)
		}
	})
	stop := s.runWith(s.routes, s.routes, worker.Options{FirstAsk: time.Millisecond})
	select {
	case <-gate.Arrived():
	case <-time.After(toHappen):
		s.t.Fatal("the provider gets no request")
	}
	for begun := time.Now(); s.provider.Questions(standin.Match{}) == 0; time.Sleep(time.Millisecond) {
		if time.Since(begun) > toHappen {
			s.t.Fatal("the worker does not ask for the work")
		}
	}
	stop()
	s.eventually(j.ID, job.StatusUnknown, "", "b unknown")
	return j, gate
}

func (s *background) oneCall() {
	s.t.Helper()
	for attempt, n := range s.provider.PerAttempt() {
		if n != 1 {
			s.t.Errorf("attempt %s made %d requests", attempt, n)
		}
	}
}

func TestWorkInTheBackgroundIsFollowedToItsEnd(t *testing.T) {
	for _, params := range []string{"", `{"stream":true}`} {
		t.Run("params "+params, func(t *testing.T) {
			s := setBackground(t)
			gate := s.provider.Hold(standin.Match{})
			j := s.submit("k", func(in *job.Intent) { inBackground(in); in.Params = json.RawMessage(params) })
			s.routed.run(worker.Options{})
			<-gate.Arrived()
			gate.Release()
			s.eventually(j.ID, job.StatusSucceeded, answerOfTriage, "b succeeded")
			s.oneCall()
		})
	}
}

func TestALostAnswerIsAskedForAndFound(t *testing.T) {
	s := setBackground(t)
	j, gate := s.abandoned("k", nil)
	s.reconcile(job.AskPlan{First: time.Millisecond, Longest: 5 * time.Millisecond, Most: 10_000})
	gate.Release()
	s.eventually(j.ID, job.StatusSucceeded, answerOfTriage, "b succeeded")
	s.oneCall()
	ref := s.provider.Ledger()[0].ID
	for _, e := range s.events(j.ID, job.EventAttemptMoved) {
		if e.To == job.StateSucceeded {
			want := fmt.Sprintf(`{"evidence":"the provider was asked for its work %s and says completed","provider_ref":"%s","provider_status":"completed"}`, ref, ref)
			if e.From != job.StateUnknown || e.Actor != "reconciler" || string(e.Detail) != want {
				t.Errorf("the event is %+v with %s, want %s", e, e.Detail, want)
			}
		}
	}
}

func TestWhatTheProviderSaysFailedHasFailed(t *testing.T) {
	for _, status := range []string{"failed", "cancelled", "incomplete"} {
		t.Run(status, func(t *testing.T) {
			s := setBackground(t)
			s.provider.Script(standin.Match{}, standin.Answer{Message: func(m *standin.Message) { m.Word = status }})
			j, gate := s.abandoned("k", automatic("p"))
			s.reconcile(plan)
			gate.Release()
			s.eventually(j.ID, job.StatusStarting, "", "b failed,p starting") // definite: what the policy lets follow does
			s.oneCall()
		})
	}
}

func TestAnAnswerThatTheContractRejectsHasFailed(t *testing.T) {
	s := setBackground(t)
	s.provider.Script(standin.Match{}, standin.Says(`{"queue":"nowhere"}`))
	j, gate := s.abandoned("k", nil)
	s.reconcile(plan)
	gate.Release()
	s.eventually(j.ID, job.StatusFailed, "", "b failed")
}

func TestWorkThatTheProviderDoesNotKnowStaysUnknown(t *testing.T) {
	s := setBackground(t)
	j, gate := s.abandoned("k", automatic("p"))
	if s.provider.Lose(standin.Match{}) != 1 {
		t.Fatal("there is nothing to lose")
	}
	gate.Release()
	s.reconcile(plan)
	s.allAsked(plan.Most)
	s.eventually(j.ID, job.StatusUnknown, "", "b unknown")
	if moves := s.events(j.ID, job.EventAttemptMoved); moves[len(moves)-1].To != job.StateUnknown {
		t.Errorf("it was moved: %+v", moves)
	}
}

func TestWorkThatGoesOnStaysUnknown(t *testing.T) {
	s := setBackground(t)
	j, _ := s.abandoned("k", nil)
	s.reconcile(plan)
	s.allAsked(plan.Most)
	s.eventually(j.ID, job.StatusUnknown, "", "b unknown")
}

// allAsked waits until the attempt was asked about n times and no more is due.
func (s *background) allAsked(n int) {
	s.t.Helper()
	var got string
	for begun := time.Now(); time.Since(begun) < toHappen; time.Sleep(time.Millisecond) {
		got = s.value("SELECT asks || ' ' || coalesce(ask_at::text, 'over') FROM attempts WHERE n = 1")
		if got == fmt.Sprint(n, " over") {
			return
		}
	}
	s.t.Fatalf("asked %s times, want %d", got, n)
}

func TestTheWorkOfACancelledAttemptIsStopped(t *testing.T) {
	s := setBackground(t)
	j, _ := s.abandoned("k", nil)
	if _, err := s.store.CancelAttempt(bounded(t), job.Move{Owner: job.AnyOwner, Job: j.ID, N: 1, Actor: "operator:o", Reason: "too dear"}); err != nil {
		t.Fatal(err)
	}
	s.reconcile(plan)
	s.allAsked(1)
	s.eventually(j.ID, job.StatusFailed, "", "b cancelled")
	kept, err := s.ask(j)
	if err != nil || kept.Status != "cancelled" {
		t.Errorf("at the provider the work is %+v, %v", kept, err)
	}
}

func (s *background) ask(j job.Job) (providers.Kept, error) {
	_, kept, err := s.routes.Ask(bounded(s.t), job.Question{Job: j, Attempt: job.Attempt{Provider: "b"}, Ref: s.provider.Ledger()[0].ID})
	return kept, err
}

// TestALateAnswerAndAQuestionHaveOneWinner lets go of many works for which both
// the worker, past the soft deadline, and the reconciler ask.
func TestALateAnswerAndAQuestionHaveOneWinner(t *testing.T) {
	const jobs = 16
	s := setBackground(t)
	gate := s.provider.Hold(standin.Match{})
	var all []job.Job
	for i := range jobs {
		all = append(all, s.submit(job.Key(fmt.Sprint("k", i)), func(in *job.Intent) {
			inBackground(in)
			if in.DeadlineMS = 20; i%2 == 0 { // its answer comes by itself, the other's worker asks for it
				in.Params = json.RawMessage(`{"stream":true}`)
			}
		}))
	}
	s.routed.run(worker.Options{Concurrency: jobs, FirstAsk: time.Millisecond})
	for _, j := range all {
		s.eventually(j.ID, job.StatusUnknown, "", "b unknown")
	}
	s.reconcile(job.AskPlan{First: time.Millisecond, Longest: 5 * time.Millisecond, Most: 100_000})
	gate.Release()
	by := map[string]int{}
	for _, j := range all {
		s.eventually(j.ID, job.StatusSucceeded, answerOfTriage, "b succeeded")
		wins := s.events(j.ID, job.EventJobSucceeded)
		if len(wins) != 1 {
			t.Fatalf("job %s succeeded %d times", j.ID, len(wins))
		}
		by[wins[0].Actor]++
		if races := s.races(j.ID); len(races) > 1 {
			t.Errorf("job %s has %d races", j.ID, len(races))
		}
	}
	s.oneCall()
	t.Logf("won by %v", by)
}

// TestAQuestionIsTakenOnce has several processes look for the same questions.
func TestAQuestionIsTakenOnce(t *testing.T) {
	s := setBackground(t)
	s.abandoned("k", nil)
	var mu sync.Mutex
	var taken []job.Question
	var looking sync.WaitGroup
	for range 8 {
		looking.Go(func() {
			got, err := s.store.TakeQuestions(bounded(t), job.AskPlan{First: time.Hour, Longest: time.Hour, Most: 9}, 10)
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			taken = append(taken, got...)
			mu.Unlock()
		})
	}
	looking.Wait()
	if len(taken) != 1 || taken[0].N != 1 || taken[0].Last || !strings.HasPrefix(taken[0].Ref, "standin-") || taken[0].Job.Intent.Contract == "" {
		t.Errorf("taken %+v", taken)
	}
}
