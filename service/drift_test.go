package service_test

import (
	"strings"
	"testing"
	"time"

	"github.com/interlock-harness/interlock/providers/standin"
)

// TestAnotherBuildShutsTheGate has a certified provider answer as another build: the
// gate is shut for it, in every process and after a restart, says why, and opens
// when the provider is certified anew.
func TestAnotherBuildShutsTheGate(t *testing.T) {
	s := newSetting(t)
	sign := newIssuer(t, s)
	c := s.start(t, sign.args...)
	certify := func(serial int64, begin time.Time, builds ...string) {
		t.Helper()
		if status, _, body := c.ask("PUT", "/v1/certificates", operatorKey, sign.live(t, serial, begin, builds...)); status != 201 {
			t.Fatalf("%d %s", status, body)
		}
	}
	answer := func(at *child) (allowed, body string) {
		_, _, body = at.ask("GET", "/v1/failover?from=other&to=openai-demo&contract=triage", ownerKey, "")
		return field(t, body, "allowed"), body
	}
	job := func(key string) (id string) {
		t.Helper()
		_, _, body := c.ask("POST", "/v1/jobs", ownerKey, intent(key), "Idempotency-Key", key, "Prefer", "wait=10")
		if field(t, body, "status") != "succeeded" {
			t.Fatalf("%s", body)
		}
		return field(t, body, "id")
	}
	events := func(id string) string {
		t.Helper()
		_, _, body := c.ask("GET", "/v1/jobs/"+id+"/events", ownerKey, "")
		return body
	}

	certify(1, time.Now().Add(-time.Minute), "fp_standin_1")
	if told := events(job("as-certified")); strings.Contains(told, "provider.suspected") {
		t.Errorf("as certified: %s", told)
	}
	if allowed, body := answer(c); allowed != "true" {
		t.Fatalf("as certified: %s", body)
	}
	s.provider.Script(standin.Match{}, standin.Answer{Message: func(m *standin.Message) { m.Build = "fp_standin_2" }})
	// nobody has asked the gate yet: the event is there when the answer is
	told := events(job("another-build"))
	if !strings.Contains(told, `"type":"provider.suspected"`) || !strings.Contains(told, `"reason":"openai-demo"`) || !strings.Contains(told, "drift: an answer names the build") {
		t.Errorf("another build: %s", told)
	}
	if again := events(job("once-more")); strings.Contains(again, "provider.suspected") {
		t.Errorf("what is known is told again: %s", again)
	}
	if allowed, body := answer(c); allowed != "false" || !strings.Contains(body, "drift: ") || !strings.Contains(body, "names the build") {
		t.Errorf("another build: %s", body)
	}
	later := s.start(t, append(sign.args, "--role", "api")...)
	if allowed, body := answer(later); allowed != "false" || !strings.Contains(body, "drift: ") {
		t.Errorf("a process that starts later: %s", body)
	}
	for begun := time.Now(); time.Since(begun) < time.Second; { // certificates count whole seconds
		<-time.After(50 * time.Millisecond)
	}
	certify(2, time.Now(), "fp_standin_2")
	for deadline := time.Now().Add(toCome); ; {
		allowed, body := answer(c)
		if allowed == "true" {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("certified anew: %s", body)
		}
		<-time.After(50 * time.Millisecond)
	}
}
