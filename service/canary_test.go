package service_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/interlock-harness/interlock/providers/certificate"
	"github.com/interlock-harness/interlock/providers/contract"
	"github.com/interlock-harness/interlock/providers/fixtures"
	"github.com/interlock-harness/interlock/providers/standin"
)

// TestCanariesAskTheCasesAndShutTheGate lets two processes send canaries: each
// moment has one, of a case of the contract, and when the provider answers as
// another build the gate is shut although no job came, and no canary follows.
func TestCanariesAskTheCasesAndShutTheGate(t *testing.T) {
	s := newSetting(t)
	sign := newIssuer(t, s)
	agreed, err := contract.Load(fixtures.FS, "contracts/triage")
	if err != nil {
		t.Fatal(err)
	}
	s.write(t, "certificates/"+certificate.FileName("openai-demo", sign.triage.Name()), sign.live(t, 1, time.Now().Add(-time.Minute), "fp_standin_1"))

	s.start(t, sign.args...) // canaries are off where nobody asks for them
	if n := len(s.provider.Ledger()); n != 0 {
		t.Errorf("%d canaries without --canary-every", n)
	}
	args := append(sign.args, "--canary-every", "2s")
	c, _ := s.start(t, args...), s.start(t, args...)
	ctx, cancel := context.WithTimeout(t.Context(), toCome)
	defer cancel()
	if err := s.provider.AwaitEnd(ctx, standin.Match{}, 2*len(agreed.Cases)); err != nil {
		t.Fatal(err)
	}
	jobs := map[string]bool{}
	for _, call := range s.provider.Ledger() {
		id := call.Header.Get("X-Job-Id")
		if jobs[id] {
			t.Errorf("job %s is sent twice", id)
		}
		jobs[id] = true
		if !slices.ContainsFunc(agreed.Cases, func(k contract.Case) bool {
			r, err := agreed.Request(k.Input)
			return err == nil && r.User == call.Ask.User
		}) {
			t.Errorf("a canary asks what no case asks: %.200s", call.Ask.User)
		}
	}
	if _, _, body := c.ask("GET", "/v1/failover?from=other&to=openai-demo&contract=triage", ownerKey, ""); field(t, body, "allowed") != "true" {
		t.Errorf("canaries are as certified: %s", body)
	}

	s.provider.Script(standin.Match{}, standin.Answer{Message: func(m *standin.Message) { m.Build = "fp_standin_2" }})
	for deadline := time.Now().Add(toCome); ; {
		if _, _, body := c.ask("GET", "/v1/failover?from=other&to=openai-demo&contract=triage", ownerKey, ""); field(t, body, "allowed") == "false" && strings.Contains(body, "names the build") {
			break
		} else if time.Now().After(deadline) {
			t.Fatalf("the gate stays open: %s", body)
		}
		<-time.After(20 * time.Millisecond)
	}
	// the gate is shut first and tells of it then: the event may still be on its way
	told := func() (events string) {
		for _, call := range s.provider.Ledger() {
			_, _, of := c.ask("GET", "/v1/jobs/"+call.Header.Get("X-Job-Id")+"/events", operatorKey, "")
			if strings.Contains(of, `"type":"provider.suspected"`) {
				events += of
			}
		}
		return events
	}
	for deadline := time.Now().Add(toCome); !strings.Contains(told(), `"actor":"drift"`); {
		if time.Now().After(deadline) {
			t.Fatalf("no event of a canary says why: %.2000s", told())
		}
		<-time.After(20 * time.Millisecond)
	}
}

func TestCanariesAreRefusedFasterThanOneASecond(t *testing.T) {
	code, _, stderr := run(t, nil, "serve", "--pg-url", "postgres://nowhere", "--canary-every", "10ms")
	if code != 64 || !strings.Contains(stderr, "--canary-every is 0 or at least a second") {
		t.Errorf("%d %s", code, stderr)
	}
}
