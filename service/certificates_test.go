package service_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/certificate"
	"github.com/interlock-harness/interlock/providers/fixtures"
	"github.com/interlock-harness/interlock/providers/profile"
	"github.com/interlock-harness/interlock/providers/standin"
)

// statement is what a run of the checks would state about p, valid from begin on.
func statement(p providers.Profile, c certificate.Contract, serial int64, begin time.Time) certificate.Statement {
	s := certificate.Statement{
		Type: certificate.StatementType, PredicateType: certificate.PredicateType,
		Subject: []certificate.Subject{
			{Name: certificate.SubjectProfile + "/" + p.Name, Digest: certificate.Digest{SHA256: certificate.ProfileDigest(p)}},
			{Name: certificate.SubjectContract + "/" + c.Name(), Digest: certificate.Digest{SHA256: c.Digest}},
			{Name: certificate.SubjectFixtures, Digest: certificate.Digest{SHA256: c.Fixtures}},
			{Name: certificate.SubjectTranscripts, Digest: certificate.Digest{SHA256: certificate.Hash(nil)}},
		},
		Predicate: certificate.Predicate{
			Suite: certificate.Suite{Version: "test"}, Issuer: "test", Serial: serial, Mode: certificate.Replay,
			Profile: p.Name, Contract: c.Name(), Protocol: string(p.Protocol), Model: p.Model, Served: []string{p.Model}, Upstream: p.Upstream,
			Plan:    certificate.Plan{SHA256: certificate.Hash(nil), Registered: certificate.At(begin), Cases: c.Cases, Repeats: c.Repeats, Calls: c.Cases * c.Repeats},
			Started: certificate.At(begin), Ended: certificate.At(begin), NotBefore: certificate.At(begin), NotAfter: certificate.At(begin.Add(time.Hour)),
			Scope: certificate.Scope{Modes: []string{string(providers.ModeJSONSchema), string(providers.ModeTool)}, Streaming: true, MaxInput: 100_000, Languages: []string{"en"}},
		},
	}
	for _, id := range c.Must {
		s.Predicate.Checks = append(s.Predicate.Checks, certificate.Check{ID: id, Severity: certificate.Must, Verdict: certificate.Pass,
			N: c.Cases, K: c.Repeats, Passes: c.Cases, Lower95: 1, Basis: certificate.Replay})
	}
	return s
}

// issuer signs live certificates of openai-demo for the contract triage, which the
// gate of a service started with args trusts. The gate is asked about a failover
// to it from the profile "other".
type issuer struct {
	args   []string
	demo   providers.Profile
	triage certificate.Contract
	signer *certificate.Signer
}

func newIssuer(t *testing.T, s *setting) issuer {
	t.Helper()
	if err := os.Mkdir(s.path("certificates"), 0o700); err != nil {
		t.Fatal(err)
	}
	signer, err := certificate.NewSigner()
	if err != nil {
		t.Fatal(err)
	}
	demo, err := profile.Load(os.DirFS(s.path("profiles")), "openai-demo.yaml")
	if err != nil {
		t.Fatal(err)
	}
	facts, err := certificate.ReadContracts(fixtures.FS, "contracts")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(s.path("profiles/openai-demo.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	s.write(t, "profiles/other.yaml", strings.Replace(string(text), "name: openai-demo", "name: other", 1))
	trust := s.write(t, "trust.json", string(certificate.DefaultTrust("test", signer.Public()).Write()))
	return issuer{args: []string{"--certificates", s.path("certificates"), "--trust", trust}, demo: demo, triage: facts["triage"], signer: signer}
}

// live is a signed certificate for an hour from begin, for answers of these builds.
func (i issuer) live(t *testing.T, serial int64, begin time.Time, builds ...string) string {
	t.Helper()
	s := statement(i.demo, i.triage, serial, begin)
	s.Predicate.Mode, s.Predicate.Fingerprints = certificate.Live, builds
	envelope, err := certificate.Sign(s, i.signer)
	if err != nil {
		t.Fatal(err)
	}
	return string(envelope)
}

// TestCertificateOpensTheGateOfARunningService takes a failover from its refusal
// over the certificate that is put to the attempt that may start.
func TestCertificateOpensTheGateOfARunningService(t *testing.T) {
	s := newSetting(t)
	first, err := os.ReadFile(s.path("profiles/openai-demo.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	s.write(t, "profiles/spare.yaml", strings.Replace(string(first), "name: openai-demo", "name: spare", 1))
	if err := os.Mkdir(s.path("certificates"), 0o700); err != nil {
		t.Fatal(err)
	}
	signer, err := certificate.NewSigner()
	if err != nil {
		t.Fatal(err)
	}
	stranger, err := certificate.NewSigner()
	if err != nil {
		t.Fatal(err)
	}
	trust := s.write(t, "trust.json", string(certificate.DefaultTrust("test", signer.Public(), "spare").Write()))
	spare, err := profile.Load(os.DirFS(s.path("profiles")), "spare.yaml")
	if err != nil {
		t.Fatal(err)
	}
	facts, err := certificate.ReadContracts(fixtures.FS, "contracts")
	if err != nil {
		t.Fatal(err)
	}
	sign := func(by *certificate.Signer, serial int64, begin time.Time) string {
		envelope, err := certificate.Sign(statement(spare, facts["triage"], serial, begin), by)
		if err != nil {
			t.Fatal(err)
		}
		return string(envelope)
	}
	now := time.Now()
	c := s.start(t, "--certificates", s.path("certificates"), "--trust", trust)
	other := s.start(t, "--certificates", s.path("certificates"), "--trust", trust, "--role", "api")

	s.provider.Script(standin.Match{}, standin.Failed(400))
	_, _, body := c.ask("POST", "/v1/jobs", ownerKey, intent("x"), "Idempotency-Key", "k", "Prefer", "wait=10")
	id := field(t, body, "id")
	if field(t, body, "status") != "failed" {
		t.Fatalf("%s", body)
	}
	start := func(at *child, key string) (int, string) {
		status, _, body := at.ask("POST", "/v1/jobs/"+id+"/attempts", ownerKey, `{"provider":"spare"}`, "Idempotency-Key", key)
		return status, body
	}
	if status, body := start(c, "before"); status != 403 || !strings.Contains(body, "none: no certificate of spare") {
		t.Errorf("without a certificate: %d %s", status, body)
	}
	put := func(envelope string) (int, string) {
		status, _, body := c.ask("PUT", "/v1/certificates", operatorKey, envelope)
		return status, body
	}
	for name, envelope := range map[string]string{
		"a stranger's": sign(stranger, 1, now.Add(-time.Minute)), "an expired one": sign(signer, 1, now.Add(-2*time.Hour)), "one from the future": sign(signer, 1, now.Add(time.Hour)),
		"changed bytes": changed(t, sign(signer, 1, now.Add(-time.Minute))), "no envelope": `{}`,
	} {
		if status, body := put(envelope); status != 422 || !strings.Contains(body, "reasons") {
			t.Errorf("%s: %d %s", name, status, body)
		}
	}
	good := sign(signer, 2, now.Add(-time.Minute))
	if status, body := put(good); status != 201 {
		t.Fatalf("a good one: %d %s", status, body)
	}
	if status, body := put(good); status != 200 {
		t.Errorf("the same again: %d %s", status, body)
	}
	if status, body := put(sign(signer, 1, now.Add(-2*time.Minute))); status != 422 {
		t.Errorf("an older one: %d %s", status, body)
	}
	allowed := func(at *child) bool {
		_, _, body := at.ask("GET", "/v1/failover?from=openai-demo&to=spare&contract=triage", ownerKey, "")
		return field(t, body, "allowed") == "true"
	}
	if !allowed(c) {
		t.Error("the process that took it does not go by it")
	}
	for deadline := time.Now().Add(toCome); !allowed(other); {
		if time.Now().After(deadline) {
			t.Fatal("the other process never goes by it")
		}
		<-time.After(50 * time.Millisecond)
	}
	if status, body := start(c, "after"); status != 202 {
		t.Errorf("with a certificate: %d %s", status, body)
	}
	_, _, metrics := c.ask("GET", "/metrics", "", "")
	for _, want := range []string{
		`interlock_gate_decisions_total{answer="no",contract="triage@1.0.0",from="openai-demo",reason="none",to="spare"}`,
		`interlock_gate_decisions_total{answer="yes",contract="triage@1.0.0",from="openai-demo",reason="",to="spare"}`,
		`interlock_certificate_expires_timestamp_seconds{contract="triage@1.0.0",provider="spare"}`,
	} {
		if !strings.Contains(metrics, want) {
			t.Errorf("the metrics lack %s", want)
		}
	}
	if err := os.Remove(trust); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(toCome); allowed(c); {
		if time.Now().After(deadline) {
			t.Fatal("the gate stays open without a trust file")
		}
		<-time.After(50 * time.Millisecond)
	}
}

// changed returns an envelope with a few letters of its payload in another case.
func changed(t *testing.T, envelope string) string {
	t.Helper()
	_, payload, ok := strings.Cut(envelope, `"payload":`)
	begin := strings.IndexByte(payload, '"') + 1
	if !ok || begin == 0 {
		t.Fatalf("no payload in %s", envelope)
	}
	value := payload[begin : begin+40]
	other := strings.ToLower(value[:20]) + value[20:]
	if other == value {
		t.Fatal("nothing to change")
	}
	return strings.Replace(envelope, value, other, 1)
}
