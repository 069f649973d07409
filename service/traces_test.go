package service_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// collected are spans as a collector gets them.
type collected struct {
	mu      sync.Mutex
	text    strings.Builder
	headers []http.Header
	spans   []span
}

type span struct {
	TraceID, SpanID, ParentSpanID, Name string
	Kind                                int
	Attributes                          []struct {
		Key   string
		Value map[string]any
	}
	Links []struct{ TraceID, SpanID string }
}

func (s span) get(key string) any {
	for _, a := range s.Attributes {
		if a.Key == key {
			for _, v := range a.Value {
				return v
			}
		}
	}
	return nil
}

func (c *collected) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	text, _ := io.ReadAll(r.Body)
	var export struct {
		ResourceSpans []struct {
			ScopeSpans []struct{ Spans []span }
		}
	}
	err := json.Unmarshal(text, &export)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.headers = append(c.headers, r.Header)
	c.text.WriteString(r.Method + " " + r.URL.Path + " " + string(text) + "\n")
	if err != nil {
		return
	}
	for _, of := range export.ResourceSpans {
		for _, s := range of.ScopeSpans {
			c.spans = append(c.spans, s.Spans...)
		}
	}
}

// named returns the one span of that name in a trace.
func (c *collected) named(t *testing.T, trace, name string) span {
	t.Helper()
	var found []span
	for _, s := range c.spans {
		if s.TraceID == trace && s.Name == name {
			found = append(found, s)
		}
	}
	if len(found) != 1 {
		t.Fatalf("%d spans %q in trace %s: %s", len(found), name, trace, c.text.String())
	}
	return found[0]
}

func TestTracesLinkAnAttemptToItsJobAndItsRequest(t *testing.T) {
	collector := &collected{}
	server := httptest.NewServer(collector)
	defer server.Close()
	s := newSetting(t)
	s.env = append(s.env, "OTEL_EXPORTER_OTLP_ENDPOINT="+server.URL+"/", "OTEL_EXPORTER_OTLP_HEADERS=x-token=to%20ken", "OTEL_SERVICE_NAME=jobs-of-a-test")
	c := s.start(t)
	const trace, caller = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
	status, header, body := c.ask("POST", "/v1/jobs", ownerKey, intent("the canary of the input"), "Idempotency-Key", "k-canary", "Prefer", "wait=20",
		"Traceparent", "00-"+trace+"-"+caller+"-01")
	if status != 200 {
		t.Fatal(status, body)
	}
	if code := c.stop(); code != 0 { // which exports what is left
		t.Fatalf("%d %s", code, c.stderr)
	}
	collector.mu.Lock()
	defer collector.mu.Unlock()
	id := strings.ReplaceAll(field(t, body, "id"), "-", "")

	request := collector.named(t, trace, "POST /v1/jobs")
	if request.ParentSpanID != caller || request.Kind != 2 || request.SpanID != header.Get("Traceparent")[36:52] ||
		request.get("http.route") != "/v1/jobs" || request.get("http.response.status_code") != "200" || request.get("interlock.job.id") != field(t, body, "id") {
		t.Errorf("the request: %+v, answered with %s", request, header.Get("Traceparent"))
	}
	submit := collector.named(t, trace, "postgresql submit-job")
	if submit.ParentSpanID != request.SpanID || submit.Kind != 3 || submit.get("db.system.name") != "postgresql" {
		t.Errorf("its statement: %+v", submit)
	}
	root := collector.named(t, id, "job")
	if root.ParentSpanID != "" || len(root.Links) != 1 || root.Links[0].TraceID != trace || root.Links[0].SpanID != request.SpanID {
		t.Errorf("the job: %+v", root)
	}
	if len(request.Links) != 1 || request.Links[0].TraceID != id || request.Links[0].SpanID != root.SpanID {
		t.Errorf("the request is not linked to its job: %+v", request)
	}
	attempt := collector.named(t, id, "attempt")
	if attempt.ParentSpanID != root.SpanID || attempt.get("interlock.outcome") != "accepted" || attempt.get("interlock.attempt.id") != field(t, body, "completed_by") {
		t.Errorf("the attempt: %+v", attempt)
	}
	chat := collector.named(t, id, "chat standin-orion-1")
	for key, want := range map[string]any{"gen_ai.operation.name": "chat", "gen_ai.provider.name": "openai", "gen_ai.request.model": "standin-orion-1",
		"gen_ai.response.model": "standin-orion-1", "http.response.status_code": "200", "server.address": "127.0.0.1"} {
		if got := chat.get(key); got != want {
			t.Errorf("the call says %s = %v, want %v", key, got, want)
		}
	}
	if chat.ParentSpanID != attempt.SpanID || chat.Kind != 3 || chat.get("gen_ai.usage.output_tokens") == nil || chat.get("gen_ai.response.finish_reasons") == nil {
		t.Errorf("the call: %+v", chat)
	}
	stored := collector.named(t, id, "postgresql complete-job win-attempt cancel-not-begun")
	if stored.ParentSpanID != attempt.SpanID {
		t.Errorf("the compare-and-swap: %+v", stored)
	}
	ids := map[string]bool{}
	for _, s := range collector.spans {
		if ids[s.TraceID+s.SpanID] {
			t.Errorf("two spans have one id: %+v", s)
		}
		ids[s.TraceID+s.SpanID] = true
	}
	text := collector.text.String()
	if !strings.HasPrefix(text, "POST /v1/traces ") || collector.headers[0].Get("X-Token") != "to ken" || collector.headers[0].Get("Content-Type") != "application/json" {
		t.Errorf("the export: %v %.200s", collector.headers[0], text)
	}
	if !strings.Contains(text, "jobs-of-a-test") {
		t.Error("OTEL_SERVICE_NAME is not heard")
	}
	for _, secret := range []string{"canary", "No paper", ownerKey, "secret-of-the-provider", "to ken"} {
		if strings.Contains(text, secret) {
			t.Errorf("the traces hold %q", secret)
		}
	}
}

func TestTracesAreOffUnlessACollectorIsNamed(t *testing.T) {
	collector := &collected{}
	server := httptest.NewServer(collector)
	defer server.Close()
	s := newSetting(t)
	s.env = append(s.env, "OTEL_EXPORTER_OTLP_ENDPOINT="+server.URL, "OTEL_SDK_DISABLED=true")
	c := s.start(t)
	if status, _, body := c.ask("POST", "/v1/jobs", ownerKey, intent("x"), "Idempotency-Key", "k", "Prefer", "wait=20"); status != 200 {
		t.Error(status, body)
	}
	c.stop()
	if len(collector.headers) != 0 {
		t.Errorf("%d exports", len(collector.headers))
	}
}

func TestACollectorThatIsAwayHarmsNobody(t *testing.T) {
	dead := httptest.NewServer(http.NotFoundHandler())
	dead.Close()
	s := newSetting(t)
	c := s.start(t, "--otlp-endpoint", dead.URL)
	for _, key := range []string{"k-1", "k-2"} {
		if status, _, body := c.ask("POST", "/v1/jobs", ownerKey, intent("x"), "Idempotency-Key", key, "Prefer", "wait=20"); status != 200 {
			t.Error(status, body)
		}
	}
	if code := c.stop(); code != 0 || strings.Count(c.stderr.String(), "traces are lost") != 1 {
		t.Errorf("it ends with %d: %s", code, c.stderr)
	}
	for _, bad := range []string{"collector:4318", "grpc://h:4317", "http://user:geheim@h", "http://"} {
		code, _, said := run(t, s.env, append([]string{"serve", "--otlp-endpoint", bad}, s.flags...)...)
		if code != 64 || !strings.Contains(said, "--otlp-endpoint") || strings.Contains(said, "geheim") {
			t.Errorf("%s: exit %d, %s", bad, code, said)
		}
	}
	code, _, said := run(t, append(s.env, "OTEL_EXPORTER_OTLP_ENDPOINT=http://h", "OTEL_EXPORTER_OTLP_HEADERS=geheim"), append([]string{"serve"}, s.flags...)...)
	if code != 64 || !strings.Contains(said, "OTEL_EXPORTER_OTLP_HEADERS") || strings.Contains(said, "geheim") {
		t.Errorf("exit %d, %s", code, said)
	}
}
