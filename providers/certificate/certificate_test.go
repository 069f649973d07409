package certificate_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/certificate"
)

// The world of these tests: openai-demo may fail over to anthropic-demo for
// invoice@1.0.0, on the evidence of one certificate, at noon.
var noon = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

var profiles = map[string]providers.Profile{
	"openai-demo":    {Name: "openai-demo", Protocol: providers.OpenAIChat, BaseURL: "https://a.example/v1", Model: "standin-orion-1", Upstream: "orion"},
	"anthropic-demo": {Name: "anthropic-demo", Protocol: providers.AnthropicMessages, BaseURL: "https://b.example/v1", Model: "standin-lyra-1", Upstream: "lyra"},
}

func contract() certificate.Contract {
	return certificate.Contract{
		ID: "invoice", Version: "1.0.0", Digest: certificate.Hash([]byte("invoice")), Fixtures: certificate.Hash([]byte("fixtures")),
		Must: []string{"S01", "S02"}, Cases: 30, Repeats: 8,
	}
}

func statement() certificate.Statement {
	digest := func(s string) certificate.Digest { return certificate.Digest{SHA256: certificate.Hash([]byte(s))} }
	check := func(id string) certificate.Check {
		return certificate.Check{
			ID: id, Severity: certificate.Must, Verdict: certificate.Pass, N: 30, K: 8, Passes: 30, Lower95: 0.905,
			Threshold: 0.9, Basis: certificate.Live, Evidence: []string{},
		}
	}
	return certificate.Statement{
		Type: certificate.StatementType, PredicateType: certificate.PredicateType,
		Subject: []certificate.Subject{
			{Name: "profile/anthropic-demo", Digest: certificate.Digest{SHA256: certificate.ProfileDigest(profiles["anthropic-demo"])}},
			{Name: "contract/invoice@1.0.0", Digest: digest("invoice")},
			{Name: "fixtures", Digest: digest("fixtures")},
			{Name: "transcripts", Digest: digest("transcripts")},
		},
		Predicate: certificate.Predicate{
			Suite: certificate.Suite{Version: "0.1.0"}, Issuer: "ci", Serial: 7, Mode: certificate.Live,
			Profile: "anthropic-demo", Contract: "invoice@1.0.0", Protocol: "anthropic-messages", Model: "standin-lyra-1",
			Served: []string{"standin-lyra-1"}, Fingerprints: []string{},
			Plan:    certificate.Plan{SHA256: certificate.Hash(nil), Registered: at(-2 * time.Hour), Cases: 30, Repeats: 8, Calls: 240},
			Started: at(-2 * time.Hour), Ended: at(-time.Hour), NotBefore: at(-time.Hour), NotAfter: at(24 * time.Hour),
			Scope:    certificate.Scope{Modes: []string{"json_schema"}, Streaming: true, MaxInput: 900, Languages: []string{"en", "ml", "ta"}},
			Checks:   []certificate.Check{check("S01"), check("S02")},
			Baseline: certificate.Baseline{Structure: map[string]int{}, Finish: map[string]int{"end_turn": 240}, PromptSize: map[string]int{}},
		},
	}
}

func at(d time.Duration) certificate.Time { return certificate.At(noon.Add(d)) }

func key(t testing.TB) *certificate.Signer {
	t.Helper()
	s, err := certificate.NewSigner()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func sign(t testing.TB, s certificate.Statement, keys ...*certificate.Signer) []byte {
	t.Helper()
	data, err := certificate.Sign(s, keys...)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// world is a gate's evidence that a test may spoil.
type world struct {
	t         testing.TB
	key       *certificate.Signer
	statement certificate.Statement
	evidence  certificate.Evidence
	question  certificate.Question
}

func newWorld(t testing.TB) *world {
	k := key(t)
	w := &world{t: t, key: k, statement: statement()}
	w.evidence = certificate.Evidence{
		Trust: certificate.DefaultTrust("ci", k.Public()), Profiles: profiles,
		Contracts: map[string]certificate.Contract{"invoice": contract()}, Seen: &certificate.Seen{},
	}
	w.question = certificate.Question{From: "openai-demo", To: "anthropic-demo", Contract: "invoice", At: noon}
	return w
}

func (w *world) file(data []byte) { w.named("a.dsse.json", data) }

func (w *world) named(name string, data []byte) {
	w.evidence.Files = append(w.evidence.Files, certificate.File{Name: name, Data: data})
}

func (w *world) trust(change func(*certificate.Trust)) {
	w.t.Helper()
	var copied certificate.Trust
	if err := json.Unmarshal(w.evidence.Trust.Write(), &copied); err != nil {
		w.t.Fatal(err)
	}
	change(&copied)
	read, err := certificate.ReadTrust(copied.Write())
	if err != nil {
		w.t.Fatal(err)
	}
	w.evidence.Trust = read
}

// ask adds the world's statement as signed by its key when there is no file yet.
func (w *world) ask() certificate.Answer {
	w.t.Helper()
	if w.evidence.Files == nil {
		w.file(sign(w.t, w.statement, w.key))
	}
	return certificate.NewGate(w.evidence).Ask(w.question)
}

func (w *world) expect(detailed int, part string) {
	w.t.Helper()
	a := w.ask()
	if a.Detailed != detailed || a.Allow != (detailed == 0) {
		w.t.Errorf("answer %s (exit %d, detailed %d), want detailed %d: %v", a.Answer, a.Exit, a.Detailed, detailed, a.Reasons)
		return
	}
	if want := map[int]int{0: 0, 1: 1, 3: 3}[detailed]; detailed >= 10 && a.Exit != 2 || detailed < 10 && a.Exit != want {
		w.t.Errorf("exit %d for detailed %d", a.Exit, detailed)
	}
	if detailed != 0 && (a.Reasons[0].Remedy == "" || a.Reasons[0].Sentence == "") {
		w.t.Errorf("no sentence or remedy in %+v", a.Reasons[0])
	}
	if part != "" && !strings.Contains(a.Because(), part) {
		w.t.Errorf("because %q, want something with %q", a.Because(), part)
	}
}

func TestAGoodCertificateOpensTheGate(t *testing.T) {
	w := newWorld(t)
	w.expect(0, "valid until 2026-11-30T12:00:00Z")
	a := w.ask()
	if a.Issuer != "ci" || a.Serial != 7 || a.Mode != certificate.Live || len(a.Certificate) != 64 || a.Contract != "invoice@1.0.0" {
		t.Errorf("%+v", a)
	}
}

func TestAnEmptyFolderDenies(t *testing.T) {
	w := newWorld(t)
	w.evidence.Files = []certificate.File{}
	w.expect(10, "no certificate of anthropic-demo for invoice@1.0.0")
	a := w.ask()
	if got := a.Reasons[0].Remedy; got != "interlock certify anthropic-demo --contract invoice --live" {
		t.Errorf("remedy %q", got)
	}
}

func TestListsThatAreNilAreSignedAsEmptyOnes(t *testing.T) {
	w := newWorld(t)
	p := &w.statement.Predicate
	p.Fingerprints, p.Scope.Languages, p.Baseline, p.Checks[0].Evidence = nil, nil, certificate.Baseline{}, nil
	w.expect(0, "")
}
