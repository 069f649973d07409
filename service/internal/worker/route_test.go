package worker_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/call"
	"github.com/interlock-harness/interlock/providers/contract"
	"github.com/interlock-harness/interlock/providers/fixtures"
	"github.com/interlock-harness/interlock/providers/judge"
	"github.com/interlock-harness/interlock/providers/standin"
	"github.com/interlock-harness/interlock/providers/strictjson"
	"github.com/interlock-harness/interlock/service/internal/job"
	"github.com/interlock-harness/interlock/service/internal/worker"
)

const answerOfTriage = `{"queue": "billing", "urgency":"low",  "summary":"A question about a bill."}`

// routed is a stage whose worker calls stand-ins over HTTP.
type routed struct {
	*stage
	openai *standin.Server
	routes routes
}

// routes calls over HTTP and judges, as a service does.
type routes struct {
	profiles  map[string]providers.Profile
	contracts map[string]*contract.Contract
}

func (r routes) read(j job.Job) (*contract.Contract, any, error) {
	for _, c := range r.contracts {
		if c.Ref() == j.Intent.Contract {
			input, err := strictjson.Decode(j.Intent.Input, strictjson.Defaults)
			return c, input, err
		}
	}
	return nil, nil, fmt.Errorf("contract %s is not deployed", j.Intent.Contract)
}

func (r routes) Call(ctx context.Context, c job.Claimed, header http.Header, known func(string)) (providers.Transcript, error) {
	p, request, err := r.request(c.Attempt.Provider, c.Job)
	if err != nil {
		return providers.Transcript{}, err
	}
	return call.Follow(ctx, p, "secret-key", request, header, known)
}

func (r routes) Ask(ctx context.Context, q job.Question) (providers.Transcript, providers.Kept, error) {
	p, request, err := r.request(q.Attempt.Provider, q.Job)
	if err != nil {
		return providers.Transcript{}, providers.Kept{}, err
	}
	if q.Attempt.State == job.StateCancelled {
		return call.Stop(ctx, p, "secret-key", request, q.Ref)
	}
	return call.Ask(ctx, p, "secret-key", request, q.Ref)
}

func (r routes) request(provider string, j job.Job) (providers.Profile, providers.Request, error) {
	p, ok := r.profiles[provider]
	agreed, input, err := r.read(j)
	if !ok || err != nil {
		return p, providers.Request{}, fmt.Errorf("no route to %s: %v", provider, err)
	}
	request, err := agreed.Request(input)
	request.Model, request.Stream = p.Model, strings.Contains(string(j.Intent.Params), "stream")
	return p, request, err
}

func (r routes) Judge(j job.Job, _ string, t providers.Transcript) providers.Judgement {
	agreed, input, err := r.read(j)
	if err != nil {
		return providers.Judgement{Verdict: providers.Unknown}
	}
	return judge.Judge(agreed, &contract.Case{Input: input}, t)
}

func setRoutes(t *testing.T) *routed {
	t.Helper()
	contracts, err := contract.LoadAll(fixtures.FS, "contracts")
	if err != nil {
		t.Fatal(err)
	}
	openai, err := standin.Start(standin.Options{Protocol: providers.OpenAIChat, Model: "m", Fallback: func(standin.Ask) string { return answerOfTriage }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := openai.Close(); err != nil {
			t.Error(err)
		}
	})
	profile := func(name, url string) providers.Profile {
		return providers.Profile{Name: name, Protocol: providers.OpenAIChat, BaseURL: url, Model: "m", AllowLoopback: true,
			Auth: providers.Auth{Header: "Authorization", Scheme: "Bearer", Env: "KEY"}}
	}
	shedding := profile("shedding", openai.URL())
	shedding.RefusedStatuses = []int{500}
	return &routed{stage: set(t, nil, ""), openai: openai, routes: routes{contracts: contracts, profiles: map[string]providers.Profile{
		"p": profile("p", openai.URL()), "closed": profile("closed", "http://127.0.0.1:1"), "shedding": shedding}}}
}

func (s *routed) run(o worker.Options) {
	s.t.Helper()
	s.stage.runWith(s.routes, s.routes, o)
}

func triage(in *job.Intent) {
	in.Contract = "triage@1.0.0"
	in.Input = json.RawMessage(`{"text":"Why was I billed twice?"}`)
}

func TestTheStoredResultIsWhatTheProviderSaid(t *testing.T) {
	s := setRoutes(t)
	j := s.submit("k", func(in *job.Intent) {
		triage(in)
		in.Params = json.RawMessage(`{"stream":true}`)
	})
	s.run(worker.Options{})
	s.eventually(j.ID, job.StatusSucceeded, answerOfTriage, "p succeeded")

	calls := s.openai.Calls(standin.Match{Job: string(j.ID)})
	if len(calls) != 1 {
		t.Fatalf("%d requests for one attempt", len(calls))
	}
	c := calls[0]
	attempt := attemptsOf(t, s.stage, j.ID)[0]
	if c.Ask.Attempt != string(attempt.ID) || c.Header.Get("Authorization") != "Bearer secret-key" || c.Header.Get("Idempotency-Key") != "" {
		t.Errorf("headers are %v", c.Header)
	}
	if !strings.Contains(c.Ask.Prompt(), "Why was I billed twice?") || !c.Ask.Stream {
		t.Errorf("asked %+v", c.Ask)
	}
}

func TestWhatAProviderDoesAndWhatBecomesOfTheAttempt(t *testing.T) {
	s := setRoutes(t)
	s.run(worker.Options{})
	for name, c := range map[string]struct {
		provider string
		answer   *standin.Answer
		change   func(*job.Intent)
		status   job.Status
		reason   string
		calls    int
	}{
		"connection refused":            {provider: "closed", status: job.StatusFailed, reason: "not_sent.connect"},
		"no profile":                    {provider: "nobody", status: job.StatusFailed, reason: "not_sent.request"},
		"no such contract version":      {change: func(in *job.Intent) { in.Contract = "triage@9.9.9" }, status: job.StatusFailed, reason: "not_sent.request"},
		"reset after the request":       {answer: ptr(standin.Reset()), status: job.StatusUnknown, reason: "unknown.no_answer", calls: 1},
		"400":                           {answer: ptr(standin.Failed(400)), status: job.StatusFailed, reason: "refused.400", calls: 1},
		"429":                           {answer: ptr(standin.Failed(429)), status: job.StatusFailed, reason: "refused.429", calls: 1},
		"409":                           {answer: ptr(standin.Failed(409)), status: job.StatusUnknown, reason: "unknown.409", calls: 1},
		"500":                           {answer: ptr(standin.Failed(500)), status: job.StatusUnknown, reason: "unknown.500", calls: 1},
		"500 where the profile says so": {provider: "shedding", answer: ptr(standin.Failed(500)), status: job.StatusFailed, reason: "refused.500", calls: 1},
		"504":                           {answer: ptr(standin.Failed(504)), status: job.StatusUnknown, reason: "unknown.504", calls: 1},
		"an answer that breaks a rule":  {answer: ptr(standin.Says(`{"queue":"nonsense"}`)), status: job.StatusFailed, reason: "rejected.schema", calls: 1},
		"a stream cut without an end":   {answer: &standin.Answer{NoTerminator: true}, change: func(in *job.Intent) { in.Params = json.RawMessage(`{"stream":true}`) }, status: job.StatusUnknown, reason: "unknown.cut_stream", calls: 1},
		"an answer cut in the middle":   {answer: &standin.Answer{Cut: &standin.Point{Bytes: 40}}, status: job.StatusUnknown, reason: "unknown.", calls: 1},
		"an error event in a stream":    {answer: &standin.Answer{BreakAfter: 1}, change: func(in *job.Intent) { in.Params = json.RawMessage(`{"stream":true}`) }, status: job.StatusFailed, reason: "refused.mid_stream", calls: 1},
		"silence past the deadline":     {answer: &standin.Answer{Cut: &standin.Point{}, CutBy: standin.CutStall}, change: func(in *job.Intent) { in.DeadlineMS = 100 }, status: job.StatusUnknown, reason: "deadline", calls: 1},
	} {
		t.Run(name, func(t *testing.T) {
			// the text tells the calls of this case from others
			text := "case: " + name
			if c.answer != nil {
				s.openai.Script(standin.Match{Text: text}, *c.answer)
			}
			j := s.submit(job.Key(name), func(in *job.Intent) {
				triage(in)
				in.Input, _ = json.Marshal(map[string]string{"text": text})
				if c.provider != "" {
					in.Provider = c.provider
				}
				if c.change != nil {
					c.change(in)
				}
			})
			state := job.StateFailed
			if c.status == job.StatusUnknown {
				state = job.StateUnknown
			}
			s.eventually(j.ID, c.status, "", fmt.Sprintf("%s %s", j.Intent.Provider, state))
			if a := attemptsOf(t, s.stage, j.ID)[0]; !strings.HasPrefix(a.Reason, c.reason) {
				t.Errorf("reason is %q, want %q", a.Reason, c.reason)
			}
			if n := len(s.openai.Calls(standin.Match{Job: string(j.ID)})); n != c.calls {
				t.Errorf("%d requests, want %d", n, c.calls)
			}
		})
	}
}

func ptr[T any](v T) *T { return &v }

func attemptsOf(t *testing.T, s *stage, id job.ID) []job.Attempt {
	t.Helper()
	list, err := s.store.Attempts(bounded(t), job.AnyOwner, id)
	if err != nil {
		t.Fatal(err)
	}
	return list
}
