package httpapi_test

import (
	"strings"
	"testing"

	"github.com/interlock-harness/interlock/service/internal/httpapi"
)

func TestGateIsAskedAndAnswers(t *testing.T) {
	f := serve(t)
	o := f.owner(t)
	f.gate.deny("anthropic-demo", "certificate expired")
	ask := func(query string) answer { return f.call(t, request("GET", "/v1/failover?"+query, o.key, "")) }
	open := ask("from=openai-demo&to=q&contract=triage")
	if open.status != 200 || open.field(t, "allowed") != "true" || open.field(t, "contract") != "triage@1.0.0" {
		t.Errorf("%d %s", open.status, open.body)
	}
	validate(t, "GateAnswer", open.body)
	shut := ask("from=openai-demo&to=anthropic-demo&contract=triage@1.0.0")
	if shut.status != 200 || shut.field(t, "allowed") != "false" || shut.field(t, "reasons") != "[certificate expired]" {
		t.Errorf("%d %s", shut.status, shut.body)
	}
	for _, query := range []string{"from=nobody&to=q&contract=triage", "from=openai-demo&to=q&contract=none"} {
		if a := ask(query); a.status != 422 || a.problem() != "params-invalid" {
			t.Errorf("%s: %d %s", query, a.status, a.body)
		}
	}
	list := f.call(t, request("GET", "/v1/providers", o.key, ""))
	validate(t, "ProviderList", list.body)
	if list.status != 200 || !strings.Contains(string(list.body), "anthropic-demo") || strings.Contains(string(list.body), "base_url") {
		t.Errorf("%d %s", list.status, list.body)
	}
}

func TestCertificatesAreTakenOrRefused(t *testing.T) {
	f := shared(t)
	o := f.owner(t)
	put := func(body string, lines ...string) answer {
		return f.call(t, request("PUT", "/v1/certificates", o.operator, body, lines...))
	}
	const typed = "Content-Type: application/json"
	envelope := `{"payloadType":"t","payload":"e30=","signatures":[]}`
	first := put(envelope, typed)
	if first.status != 201 {
		t.Errorf("%d %s", first.status, first.body)
	}
	validate(t, "Certificate", first.body)
	if again := put(envelope, "Content-Type: application/vnd.dsse.envelope.v1+json"); again.status != 200 {
		t.Errorf("the same again: %d %s", again.status, again.body)
	}
	if bad := put(`{}`, typed); bad.status != 422 || bad.problem() != "certificate-invalid" || bad.field(t, "reasons") == "" {
		t.Errorf("%d %s", bad.status, bad.body)
	}
	if big := put(`"`+strings.Repeat("a", 256<<10)+`"`, typed); big.status != 413 {
		t.Errorf("256 KiB and more: %d", big.status)
	}
	if untyped := put(envelope); untyped.status != 415 {
		t.Errorf("untyped: %d", untyped.status)
	}
}

func TestHealthSaysWhatIsWrong(t *testing.T) { // D21
	checks := []httpapi.Check{{Name: "database", OK: true, Detail: "unsafe: fsync is off"}}
	f := serve(t, func(c *httpapi.Config) { c.Ready = readiness(&checks) })
	get := func(path string) answer { return f.call(t, request("GET", path, "", "")) }
	if a := get("/livez"); a.status != 200 {
		t.Errorf("livez: %d", a.status)
	}
	a := get("/readyz")
	validate(t, "Readiness", a.body)
	if a.status != 200 || !strings.Contains(string(a.body), "fsync is off") {
		t.Errorf("readyz: %d %s", a.status, a.body)
	}
	checks[0].OK = false
	if a := get("/readyz"); a.status != 503 || a.field(t, "status") != "not ready" {
		t.Errorf("readyz: %d %s", a.status, a.body)
	}
	if a := f.call(t, "HEAD /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"); a.status != 200 {
		t.Errorf("HEAD: %d", a.status)
	}
}
