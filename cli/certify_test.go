package cli_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/interlock-harness/interlock/cli"
	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/certificate"
	"github.com/interlock-harness/interlock/providers/certify"
	"github.com/interlock-harness/interlock/providers/contract"
	"github.com/interlock-harness/interlock/providers/fixtures"
	"github.com/interlock-harness/interlock/providers/standin"
)

const envelopeName = "anthropic-demo--invoice@1.0.0.dsse.json"

// TestCertifyThenGate runs the two commands one after the other in an empty
// folder, then spoils the evidence in every way that the gate must see.
func TestCertifyThenGate(t *testing.T) {
	t.Chdir(t.TempDir())
	ask := func(args ...string) (int, string) {
		args = append([]string{"gate", "--from", "openai-demo", "--to", "anthropic-demo"}, args...)
		code, out, talk := run(t, args...)
		if talk != "" {
			t.Errorf("%q talks: %s", args, talk)
		}
		return code, out
	}
	if code, out := ask("--contract", "invoice"); code != 2 || !strings.Contains(out, "no certificate of anthropic-demo for invoice@1.0.0") ||
		!strings.Contains(out, "Do:     interlock certify anthropic-demo --contract invoice\n") {
		t.Errorf("before: %d\n%s", code, out)
	}
	code, out, talk := run(t, "certify", "anthropic-demo", "--contract", "invoice")
	if code != cli.ExitOK || !strings.Contains(out, "Certified until") || !strings.Contains(out, "--live for failover use") {
		t.Fatalf("certify: %d\n%s%s", code, out, talk)
	}
	if code, out := ask("--contract", "invoice"); code != cli.ExitOK || !strings.Contains(out, "openai-demo may fail over to anthropic-demo for invoice@1.0.0.") ||
		!strings.Contains(out, "accept_replay") {
		t.Errorf("gate: %d\n%s", code, out)
	}
	if info, err := os.Stat("interlock-out/keys/issuer.key"); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("key file: %v", err)
	}
	file := filepath.Join("interlock-out", "certificates", envelopeName)
	good, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	trustFile := filepath.Join("interlock-out", "certificates", "trust.json")
	trust, err := os.ReadFile(trustFile)
	if err != nil {
		t.Fatal(err)
	}
	elsewhere := func(envelope, trust []byte) string {
		dir := t.TempDir()
		for name, data := range map[string][]byte{envelopeName: envelope, "trust.json": trust} {
			if data == nil {
				continue
			}
			if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		return dir
	}
	changed := []byte(strings.Replace(string(good), "A", "B", 1))
	strict := []byte(strings.ReplaceAll(string(trust), "anthropic-demo", "nobody"))
	for name, c := range map[string]struct {
		args     []string
		detailed int
		want     string
	}{
		"expired":             {[]string{"--contract", "invoice", "--at", "+400h"}, 11, "expired"},
		"not begun":           {[]string{"--contract", "invoice", "--at", "2026-01-01T00:00:00Z"}, 11, "begins"},
		"another version":     {[]string{"--contract", "invoice@2.0.0"}, 14, "is for invoice@1.0.0, asked for is invoice@2.0.0"},
		"another contract":    {[]string{"--contract", "triage"}, 10, "no certificate"},
		"one byte changed":    {[]string{"--contract", "invoice", "--certs", elsewhere(changed, trust)}, 13, "changed after signing"},
		"recordings only":     {[]string{"--contract", "invoice", "--certs", elsewhere(good, strict)}, 15, "recordings"},
		"a folder of nothing": {[]string{"--contract", "invoice", "--certs", elsewhere(nil, nil)}, 10, "no certificate"},
		"no such folder":      {[]string{"--contract", "invoice", "--certs", "none"}, 10, "no certificate"},
		"needs a language":    {[]string{"--contract", "invoice", "--language", "eo"}, 14, "eo"},
		"needs a long prompt": {[]string{"--contract", "invoice", "--input-tokens", "100000"}, 14, "100000 tokens"},
	} {
		code, out := ask(c.args...)
		if code != cli.ExitInconclusive || !strings.Contains(out, c.want) || !strings.Contains(out, "exit 2 (no usable evidence)") ||
			!strings.Contains(out, "interlock certify anthropic-demo") && !strings.Contains(out, "wait, or set the clock") {
			t.Errorf("%s: %d\n%s", name, code, out)
		}
		if code, _ := ask(append(c.args, "--detailed-exit")...); code != c.detailed {
			t.Errorf("%s: detailed exit %d, want %d", name, code, c.detailed)
		}
	}
	for name, dir := range map[string]string{"no trust file": elsewhere(good, nil), "broken trust file": elsewhere(good, []byte("{")), "empty file": elsewhere([]byte{}, trust)} {
		if code, out := ask("--contract", "invoice", "--certs", dir); code != cli.ExitInfrastructure || !strings.Contains(out, "exit 3") {
			t.Errorf("%s: %d\n%s", name, code, out)
		}
	}
	answerAsJSON(t)
	if code, out, _ := run(t, "gate", "--matrix"); code != 0 || !strings.Contains(out, "2 of 6 failovers are open") || !strings.Contains(out, "yes 1") {
		t.Errorf("matrix: %d\n%s", code, out)
	}
	older, err := certificate.ReadSeen(mustRead(t, "interlock-out/certificates/gate-state.json"))
	if err != nil || len(older.Serials) != 1 {
		t.Errorf("the gate's memory: %v %+v", err, older)
	}
	for k := range older.Serials {
		older.Serials[k]++
	}
	if err := os.WriteFile("interlock-out/certificates/gate-state.json", older.Write(), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, out := ask("--contract", "invoice", "--detailed-exit"); code != 16 || !strings.Contains(out, "a newer one was taken away") {
		t.Errorf("rolled back: %d\n%s", code, out)
	}
}

func mustRead(t *testing.T, file string) []byte {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func answerAsJSON(t *testing.T) {
	t.Helper()
	code, out, _ := run(t, "gate", "--from", "openai-demo", "--to", "anthropic-demo", "--contract", "invoice", "--json")
	var a certificate.Answer
	if err := json.Unmarshal([]byte(out), &a); err != nil || code != 0 || a.Answer != "yes" || len(a.Reasons) != 0 || a.Mode != certificate.Replay ||
		strings.Count(out, "\n") != 1 {
		t.Errorf("%v %d %s", err, code, out)
	}
	code, out, _ = run(t, "gate", "--from", "anthropic-demo", "--to", "openai-demo", "--contract", "invoice", "--json")
	if err := json.Unmarshal([]byte(out), &a); err != nil || code != 2 || a.Answer != "no" || a.Reasons[0].Code != certificate.NoCertificate || a.Reasons[0].Remedy == "" {
		t.Errorf("%v %d %s", err, code, out)
	}
}

// TestCertifyLive takes a provider at an address of its own through the checks,
// and a bad one.
func TestCertifyLive(t *testing.T) {
	c, err := contract.Load(fixtures.FS, "contracts/triage")
	if err != nil {
		t.Fatal(err)
	}
	refs, err := certify.References(c)
	if err != nil {
		t.Fatal(err)
	}
	for fault, want := range map[string]struct {
		code int
		text string
	}{
		"":       {cli.ExitInconclusive, "X03"}, // all but the job service, which this test leaves out
		"fenced": {cli.ExitViolation, "✗ S05"},
	} {
		o := standin.Options{Protocol: providers.OpenAIChat, Model: "m-1", References: refs}
		if fault != "" {
			if o.Fault, err = standin.BadProvider(fault); err != nil {
				t.Fatal(err)
			}
		}
		server, err := standin.Start(o)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = server.Close() }()
		t.Chdir(t.TempDir())
		profile := fmt.Sprintf("name: vendor\nprotocol: openai-chat\nbase_url: %s/v1\nmodel: m-1\nallow_loopback: true\nauth:\n  header: Authorization\n  scheme: Bearer\n  env: VENDOR_KEY\n", server.URL())
		if err := os.MkdirAll("profiles", 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile("profiles/vendor.yaml", []byte(profile), 0o600); err != nil {
			t.Fatal(err)
		}
		args := []string{"certify", "vendor", "--profiles", "profiles", "--contract", "triage", "--live", "--no-job-service", "--out", "out"}
		if code, _, talk := run(t, args...); code != cli.ExitUsage || !strings.Contains(talk, "VENDOR_KEY") {
			t.Errorf("without a key: %d %s", code, talk)
		}
		t.Setenv("VENDOR_KEY", "sk-planted-canary-4711")
		code, out, talk := run(t, args...)
		if code != want.code || !strings.Contains(out, want.text) || !strings.Contains(out, ", live") {
			t.Errorf("%s: %d\n%s%s", fault, code, out, talk)
		}
		if n := len(server.Ledger()); n < 200 {
			t.Errorf("%d requests reached the provider", n)
		}
		for _, call := range server.Ledger() {
			if call.Header.Get(standin.HeaderPlay) != "" {
				t.Error("the provider was asked to play a situation")
				break
			}
		}
		noCanary(t, "sk-planted-canary-4711")
		t.Setenv("VENDOR_KEY", "")
	}
}

// noCanary looks for a secret in every file of the folder.
func noCanary(t *testing.T, canary string) {
	t.Helper()
	files := 0
	err := filepath.WalkDir(".", func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files++
		if strings.Contains(string(mustRead(t, path)), canary) {
			t.Errorf("%s holds the key", path)
		}
		return nil
	})
	if err != nil || files < 4 {
		t.Errorf("%v, %d files", err, files)
	}
}

func TestCertifyUsage(t *testing.T) {
	t.Chdir(t.TempDir())
	for want, args := range map[string][]string{
		"needs PROVIDER":           {"certify", "--contract", "invoice"},
		"takes no --contract":      {"certify", "--self-test", "--contract", "invoice"},
		"Did you mean openai-chat": {"certify", "--self-test", "--protocol", "openai-chta"},
		"leaves protocols without": {"certify", "--self-test", "--good-runs", "3"},
		"--good-runs goes with":    {"certify", "openai-demo", "--contract", "invoice", "--good-runs", "10"},
		"goes with --self-test":    {"certify", "openai-demo", "--contract", "invoice", "--protocol", "gemini"},
		"another provider than":    {"certify", "openai-demo", "--contract", "invoice", "--primary", "openai-demo"},
		"Did you mean openai-demo": {"certify", "openai-dmeo", "--contract", "invoice"},
		"Did you mean invoice":     {"certify", "openai-demo", "--contract", "invioce"},
		"needs --contract":         {"certify", "openai-demo"},
		"exclude each other":       {"certify", "openai-demo", "--contract", "invoice", "--live", "--recorded"},
		"at most 336h":             {"certify", "openai-demo", "--contract", "invoice", "--valid", "337h"},
		"is not deployed":          {"certify", "openai-demo", "--contract", "invoice@9.0.0"},
		"no check":                 {"certify", "openai-demo", "--contract", "invoice", "--check", "S99"},
		"no case":                  {"certify", "openai-demo", "--contract", "invoice", "--case", "en-statonery"},
		"does not exist":           {"certify", "openai-demo", "--contract", "invoice", "--key-file", "none.key"},
		"is no folder":             {"certify", "openai-demo", "--contract", "invoice", "--profiles", "none"},
		"must be a time":           {"certify", "openai-demo", "--contract", "invoice", "--timeout", "0"},
		"needs --from":             {"gate", "--from", "openai-demo"},
		"goes to another provider": {"gate", "--from", "openai-demo", "--to", "openai-demo", "--contract", "invoice"},
		"Did you mean anthropic":   {"gate", "--from", "openai-demo", "--to", "anthropic-dem", "--contract", "invoice"},
		"must be a time such as 2": {"gate", "--from", "openai-demo", "--to", "anthropic-demo", "--contract", "invoice", "--at", "tomorrow"},
		"json_schema or tool":      {"gate", "--from", "openai-demo", "--to", "anthropic-demo", "--contract", "invoice", "--mode", "text"},
		"leave --from and --to":    {"gate", "--matrix", "--from", "openai-demo"},
	} {
		code, out, talk := run(t, args...)
		if code != cli.ExitUsage || out != "" || !strings.Contains(talk, want) {
			t.Errorf("%q: %d %q %q, want %q", args, code, out, talk, want)
		}
	}
	if entries, _ := os.ReadDir("."); len(entries) != 0 {
		t.Errorf("wrong input left %v behind", entries)
	}
	code, out, _ := run(t, "certify", "openai-demo", "--contract", "invoice", "--dry-run")
	if code != 0 || !strings.Contains(out, "0 of them to the provider itself") || !strings.Contains(out, "Nothing was sent") {
		t.Errorf("dry run: %d %s", code, out)
	}
	code, out, _ = run(t, "certify", "openai-demo", "--contract", "invoice", "--dry-run", "--live", "--primary", "anthropic-demo", "--price-input", "2", "--price-output", "10")
	if code != 0 || !strings.Contains(out, "68 more to the primary, anthropic-demo") || !strings.Contains(out, "cost at most ") {
		t.Errorf("dry run with prices: %d %s", code, out)
	}
}

func TestTheGateWaits(t *testing.T) {
	t.Chdir(t.TempDir())
	begin := time.Now()
	code, _, _ := run(t, "gate", "--from", "openai-demo", "--to", "anthropic-demo", "--contract", "invoice", "--wait", "300ms")
	if took := time.Since(begin); code != 2 || took < 300*time.Millisecond || took > 10*time.Second {
		t.Errorf("%d after %s", code, took)
	}
}
