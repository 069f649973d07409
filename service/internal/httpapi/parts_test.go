package httpapi_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"

	"github.com/interlock-harness/interlock/service/internal/httpapi"
	"github.com/interlock-harness/interlock/service/internal/job"
)

// contracts deploys triage@1.0.0 and strict@2.0.0: the input holds a text, the
// result a label. The real contracts have tests of their own.
type contracts struct{}

func (contracts) Resolve(ref string) (string, error) {
	switch ref {
	case "triage", "triage@1.0.0":
		return "triage@1.0.0", nil
	}
	return "", errors.New("not deployed")
}

func (contracts) CheckInput(_ string, input json.RawMessage) error {
	var v map[string]json.RawMessage
	var text *string
	if json.Unmarshal(input, &v) != nil {
		return errors.New("not an object")
	}
	if json.Unmarshal(v["text"], &text) != nil || text == nil {
		return errors.New("at /text: a text is wanted")
	}
	return nil
}

func (contracts) CheckResult(_ string, _, result json.RawMessage) error {
	var v map[string]any
	if json.Unmarshal(result, &v) != nil || len(v) != 1 {
		return errors.New("one label is wanted")
	}
	if _, ok := v["label"].(string); !ok {
		return errors.New("at /label: a text is wanted")
	}
	return nil
}

type known []string

func (k known) Known(name string) bool { return slices.Contains(k, name) }

func (k known) List() []httpapi.Provider {
	var list []httpapi.Provider
	for _, name := range k {
		list = append(list, httpapi.Provider{Name: name, Protocol: "openai-chat", Model: "standin-1"})
	}
	return list
}

// gate refuses the providers that a test denies. It stands in both for the gate
// that the contract asks and for the one that the store asks at a start.
type gate struct {
	mu     sync.Mutex
	denied map[string][]string
	put    [][]byte
}

func (g *gate) deny(provider string, reasons ...string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.denied == nil {
		g.denied = map[string][]string{}
	}
	g.denied[provider] = reasons
}

func (g *gate) Ask(_ context.Context, from, to, contract string) (httpapi.GateAnswer, error) {
	reasons := g.reasons(to)
	return httpapi.GateAnswer{From: from, To: to, Contract: contract, Allowed: len(reasons) == 0, Reasons: append([]string{}, reasons...)}, nil
}

func (g *gate) reasons(provider string) []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.denied[provider]
}

func (g *gate) Put(_ context.Context, envelope []byte) (httpapi.Certificate, error) {
	var v struct{ Payload string }
	if json.Unmarshal(envelope, &v) != nil || v.Payload == "" {
		return httpapi.Certificate{}, &httpapi.CertificateError{Reasons: []string{"malformed"}}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	isNew := !slices.ContainsFunc(g.put, func(have []byte) bool { return string(have) == string(envelope) })
	g.put = append(g.put, envelope)
	return httpapi.Certificate{SHA256: "00", Provider: "q", Contract: "triage@1.0.0", Expires: "2030-01-01T00:00:00Z", New: isNew}, nil
}

func (g *gate) Allow(_ job.Job, provider string) []string { return g.reasons(provider) }

func (g *gate) Next(job.Job, []job.Attempt, job.Failure) job.Decision { return job.Decision{} }

func readiness(checks *[]httpapi.Check) func(context.Context) []httpapi.Check {
	return func(context.Context) []httpapi.Check { return *checks }
}
