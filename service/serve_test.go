package service_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/standin"
)

func TestServeTakesAJobToItsResult(t *testing.T) {
	s := newSetting(t)
	c := s.start(t)
	status, header, body := c.ask("POST", "/v1/jobs", ownerKey, intent("The printer is out of paper."), "Idempotency-Key", "k-1", "Prefer", "wait=10")
	if status != 200 || field(t, body, "status") != "succeeded" || field(t, body, "contract") != "triage@1.0.0" {
		t.Fatalf("%d %s; %s", status, body, c.stderr)
	}
	calls := s.provider.Ledger()
	if len(calls) != 1 || calls[0].Header.Get("X-Job-Id") != field(t, body, "id") || calls[0].Header.Get("X-Attempt-Id") != field(t, body, "completed_by") {
		t.Errorf("the provider got %d calls: %+v", len(calls), calls)
	}
	if calls[0].Header.Get("Idempotency-Key") != "" {
		t.Error("the provider got Idempotency-Key, on which Go's transport would send again")
	}
	if header.Get("X-Job-Id") != field(t, body, "id") {
		t.Errorf("%v", header)
	}
	if ids := fmt.Sprintf(`"job_id":"%s","attempt_id":"%s"`, field(t, body, "id"), field(t, body, "completed_by")); !strings.Contains(c.stderr.String(), ids) {
		t.Errorf("the log does not say %s: %s", ids, c.stderr)
	}
	again, _, same := c.ask("POST", "/v1/jobs", ownerKey, intent("The printer is out of paper."), "Idempotency-Key", "k-1")
	if again != 200 || field(t, same, "id") != field(t, body, "id") || len(s.provider.Ledger()) != 1 {
		t.Errorf("again: %d %s, %d calls", again, same, len(s.provider.Ledger()))
	}
	if bad, _, why := c.ask("POST", "/v1/jobs", ownerKey, strings.Replace(intent("x"), `"text"`, `"txt"`, 1), "Idempotency-Key", "k-2"); bad != 422 {
		t.Errorf("an input that breaks the contract: %d %s", bad, why)
	}
	spelt := strings.Replace(intent("spelt"), `"input"`, `"params":{"max_output_tokens":3e2,"seed":1.0,"temperature":0,"stream":true},"input"`, 1)
	if status, _, body := c.ask("POST", "/v1/jobs", ownerKey, spelt, "Idempotency-Key", "k-3", "Prefer", "wait=10"); field(t, body, "status") != "succeeded" {
		t.Errorf("numbers in other spellings: %d %s; %s", status, body, c.stderr)
	}
	_, _, metrics := c.ask("GET", "/metrics", "", "")
	for _, want := range []string{
		`interlock_submits_total{outcome="new"} 2`, `interlock_submits_total{outcome="replayed"} 1`, `interlock_submits_total{outcome="params-invalid"} 1`,
		`interlock_attempts{state="running"} 0`, `interlock_attempts{state="unknown"} 0`, `interlock_unknown_oldest_age_seconds 0`,
		`interlock_attempt_duration_seconds_count{outcome=`, `interlock_build_info{`, `interlock_store_up 1`,
	} {
		if !strings.Contains(metrics, want) {
			t.Errorf("the metrics lack %s:\n%s", want, metrics)
		}
	}
	for name, text := range map[string]string{"log": c.stderr.String(), "metrics": metrics} {
		if strings.Contains(text, "secret-of-the-provider") || strings.Contains(text, ownerKey) {
			t.Errorf("a secret is in the %s", name)
		}
	}
	if code := c.stop(); code != 0 {
		t.Errorf("SIGTERM ends it with %d: %s", code, c.stderr)
	}
}

func TestWorkerAloneServesHealthOnly(t *testing.T) {
	s := newSetting(t)
	api := s.start(t, "--role", "api")
	worker := s.start(t, "--role", "worker")
	if status, _, _ := worker.ask("GET", "/livez", "", ""); status != 200 {
		t.Errorf("livez: %d", status)
	}
	status, _, body := worker.ask("GET", "/readyz", "", "")
	if status != 200 || !strings.Contains(body, "fsync is off") {
		t.Errorf("readyz: %d %s", status, body)
	}
	if status, _, body := worker.ask("GET", "/v1/jobs", ownerKey, ""); status != 404 {
		t.Errorf("a worker lists jobs: %d %s", status, body)
	}
	status, _, body = api.ask("POST", "/v1/jobs", ownerKey, intent("a"), "Idempotency-Key", "k", "Prefer", "wait=10")
	if status != 200 || field(t, body, "status") != "succeeded" {
		t.Errorf("%d %s", status, body)
	}
}

func TestTermLeavesWhatIsUnderWayUnknown(t *testing.T) {
	s := newSetting(t)
	c := s.start(t, "--shutdown-grace", "500ms")
	gate := s.provider.Hold(standin.Match{})
	waiting := make(chan string, 1)
	go func() {
		status, _, body := c.ask("POST", "/v1/jobs", ownerKey, intent("held"), "Idempotency-Key", "k", "Prefer", "wait=60")
		waiting <- fmt.Sprintf("%d %s", status, body)
	}()
	ctx, cancel := context.WithTimeout(t.Context(), toCome)
	defer cancel()
	if err := s.provider.Await(ctx, standin.Match{}, 1); err != nil {
		t.Fatal(err)
	}
	if code := c.stop(); code != 0 {
		t.Errorf("it ends with %d: %s", code, c.stderr)
	}
	if answer := <-waiting; !strings.HasPrefix(answer, "202 ") {
		t.Errorf("the waiting client gets %s", answer)
	}
	gate.Release()
	conn, err := pgx.Connect(t.Context(), s.url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	var state string
	if err := conn.QueryRow(t.Context(), "SELECT state FROM attempts").Scan(&state); err != nil || state != "unknown" {
		t.Errorf("the attempt is %q, %v", state, err)
	}
}

// TestWorkOfAKilledWorkerIsAskedFor kills the only process while its provider
// works in the background; the next one finds the answer by the provider's id.
func TestWorkOfAKilledWorkerIsAskedFor(t *testing.T) {
	s := newSetting(t)
	provider, err := standin.Start(standin.Options{Protocol: providers.OpenAIResponses, Model: "m",
		Fallback: func(standin.Ask) string { return `{"queue":"technical","urgency":"low","summary":"No paper."}` }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = provider.Close() })
	s.write(t, "profiles/slow.yaml", "name: slow\nprotocol: openai-responses\nbase_url: "+provider.URL()+"\nmodel: m\nallow_loopback: true\nbackground: true\n")
	gate := provider.Hold(standin.Match{})
	quick := []string{"--lease", "1s", "--heartbeat", "200ms", "--ask", "50ms"}
	c := s.start(t, quick...)
	status, _, body := c.ask("POST", "/v1/jobs", ownerKey, strings.Replace(intent("x"), "openai-demo", "slow", 1), "Idempotency-Key", "k")
	if status != 201 {
		t.Fatal(status, body)
	}
	id := field(t, body, "id")
	until := func(c *child, what string, holds func() bool) {
		t.Helper()
		for begun := time.Now(); !holds(); time.Sleep(10 * time.Millisecond) {
			if time.Since(begun) > toCome {
				t.Fatalf("%s does not come: %s", what, c.stderr)
			}
		}
	}
	until(c, "a question about the work", func() bool { return provider.Questions(standin.Match{}) > 0 })
	if err := c.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	c.wait()
	c = s.start(t, quick...)
	read := func() string {
		_, _, body = c.ask("GET", "/v1/jobs/"+id, ownerKey, "")
		return field(t, body, "status")
	}
	until(c, "unknown", func() bool { return read() == "unknown" })
	gate.Release()
	until(c, "the result", func() bool { return read() == "succeeded" })
	if !strings.Contains(body, "No paper.") || len(provider.Ledger()) != 1 {
		t.Errorf("after %d requests: %s", len(provider.Ledger()), body)
	}
	if _, _, events := c.ask("GET", "/v1/jobs/"+id+"/events", ownerKey, ""); !strings.Contains(events, `"actor":"reconciler"`) || !strings.Contains(events, `"provider_status":"completed"`) {
		t.Errorf("the events hold no evidence: %s", events)
	}
}

// TestProviderGetsAnIdentityOfItsOwnSize sends two keys that begin alike to a
// provider with an idempotency field: it gets the attempt's id, never the key. (B24)
func TestProviderGetsAnIdentityOfItsOwnSize(t *testing.T) {
	s := newSetting(t)
	profile, err := os.ReadFile(s.path("profiles/openai-demo.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	s.write(t, "profiles/openai-demo.yaml", string(profile)+"idempotency_header: X-Client-Token\n")
	c := s.start(t)
	seen := map[string]bool{}
	for _, end := range []string{"a", "b"} {
		key := strings.Repeat("k", 253) + end
		status, _, body := c.ask("POST", "/v1/jobs", ownerKey, intent("same"), "Idempotency-Key", key, "Prefer", "wait=10")
		if status != 200 {
			t.Fatalf("%d %s", status, body)
		}
	}
	for _, call := range s.provider.Ledger() {
		token := call.Header.Get("X-Client-Token")
		if token == "" || len(token) > 64 || strings.Contains(token, "kkk") || seen[token] {
			t.Errorf("the provider got %q", token)
		}
		seen[token] = true
	}
	if len(seen) != 2 {
		t.Errorf("%d calls", len(seen))
	}
}
