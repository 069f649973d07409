package worker_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/contract"
	"github.com/interlock-harness/interlock/providers/fixtures"
	"github.com/interlock-harness/interlock/providers/standin"
	"github.com/interlock-harness/interlock/service/internal/job"
	"github.com/interlock-harness/interlock/service/internal/worker"
)

const answerOfTriage = `{"queue": "billing", "urgency":"low",  "summary":"A question about a bill."}`

// routed is a stage whose worker calls stand-ins over HTTP.
type routed struct {
	*stage
	openai *standin.Server
	routes worker.Routes
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
			Auth: providers.Auth{Header: "Authorization", Scheme: "Bearer", Env: "KEY"}, IdempotencyHeader: "X-Request-Identity"}
	}
	shedding := profile("shedding", openai.URL())
	shedding.RefusedStatuses = []int{500}
	keyless := profile("keyless", openai.URL())
	keyless.Auth.Env = "NO_SUCH_KEY"
	return &routed{stage: set(t, nil, ""), openai: openai, routes: worker.Routes{
		Contracts: contracts,
		Profiles:  map[string]providers.Profile{"p": profile("p", openai.URL()), "closed": profile("closed", "http://127.0.0.1:1"), "shedding": shedding, "keyless": keyless},
		Secret: func(variable string) string {
			if variable == "KEY" {
				return "secret-key"
			}
			return ""
		},
	}}
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
		in.Params = json.RawMessage(`{"temperature":0.10,"max_output_tokens":77,"seed":9007199254740993,"stream":true}`)
	})
	s.run(worker.Options{})
	s.eventually(j.ID, job.StatusSucceeded, answerOfTriage, "p succeeded")

	calls := s.openai.Calls(standin.Match{Job: string(j.ID)})
	if len(calls) != 1 {
		t.Fatalf("%d requests for one attempt", len(calls))
	}
	c := calls[0]
	attempt := attemptsOf(t, s.stage, j.ID)[0]
	if c.Ask.Attempt != string(attempt.ID) || c.Header.Get("Authorization") != "Bearer secret-key" || len(c.Header.Get("X-Request-Identity")) != 32 || c.Header.Get("Idempotency-Key") != "" {
		t.Errorf("headers are %v", c.Header)
	}
	if !strings.Contains(c.Ask.Prompt(), "Why was I billed twice?") || c.Ask.Temperature != "0.10" || c.Ask.MaxOutputTokens == nil || *c.Ask.MaxOutputTokens != 77 || !c.Ask.Stream || !bytes.Contains(c.Body, []byte("9007199254740993")) {
		t.Errorf("asked %+v: %s", c.Ask, c.Body)
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
		"no key in the environment":     {provider: "keyless", status: job.StatusFailed, reason: "not_sent.request"},
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
