package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/interlock-harness/interlock/cli"
	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/certify"
	"github.com/interlock-harness/interlock/providers/contract"
	"github.com/interlock-harness/interlock/providers/fixtures"
	"github.com/interlock-harness/interlock/providers/standin"
)

// vendorKey is planted where a key belongs; it must be found nowhere.
const vendorKey = "sk-planted-canary-0815"

// vendor is a provider at an address of its own, with a profile in the folder of
// the test and its key in the environment.
func vendor(t *testing.T, fault string) *standin.Server {
	t.Helper()
	c, err := contract.Load(fixtures.FS, "contracts/triage")
	if err != nil {
		t.Fatal(err)
	}
	o := standin.Options{Protocol: providers.OpenAIChat, Model: "m-1"}
	if o.References, err = certify.References(c); err != nil {
		t.Fatal(err)
	}
	if fault != "" {
		if o.Fault, err = standin.BadProvider(fault); err != nil {
			t.Fatal(err)
		}
	}
	server, err := standin.Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	t.Chdir(t.TempDir())
	profile := fmt.Sprintf("name: vendor\nprotocol: openai-chat\nbase_url: %s/v1\nmodel: m-1\nallow_loopback: true\nauth:\n  header: Authorization\n  scheme: Bearer\n  env: VENDOR_KEY\n", server.URL())
	if err := os.MkdirAll("profiles", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("profiles/vendor.yaml", []byte(profile), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("VENDOR_KEY", vendorKey)
	return server
}

func TestRecordAsksFirst(t *testing.T) {
	server := vendor(t, "")
	args := []string{"record", "vendor", "--profiles", "profiles", "--contract", "triage"}
	if code, out, talk := run(t, args...); code != cli.ExitUsage || out != "" || !strings.Contains(talk, "20 requests of the") || !strings.Contains(talk, "--yes") {
		t.Errorf("%d %q %q", code, out, talk)
	}
	if n := len(server.Ledger()); n != 0 {
		t.Errorf("%d requests were sent", n)
	}
	t.Setenv("VENDOR_KEY", "")
	if code, _, talk := run(t, append(args, "--yes")...); code != cli.ExitUsage || !strings.Contains(talk, "VENDOR_KEY") {
		t.Errorf("%d %q", code, talk)
	}
}

func TestWhatIsRecordedIsPlayedAgain(t *testing.T) {
	server := vendor(t, "fenced") // a fault that the recordings must bring back
	code, out, talk := run(t, "record", "vendor", "--profiles", "profiles", "--contract", "triage", "--max-calls", "70", "--yes")
	if code != 0 || !strings.Contains(out, "70 recordings of vendor") {
		t.Fatalf("%d %s%s", code, out, talk)
	}
	if n := len(server.Ledger()); n != 70 {
		t.Errorf("%d requests were sent, want 70", n)
	}
	noCanary(t, vendorKey)
	if code, _, talk := run(t, "record", "vendor", "--profiles", "profiles", "--contract", "triage", "--yes"); code != cli.ExitUsage || !strings.Contains(talk, "holds recordings already") {
		t.Errorf("a second time: %d %s", code, talk)
	}
	_ = server.Close() // nobody is asked from now on
	code, out, talk = run(t, "certify", "vendor", "--profiles", "profiles", "--contract", "triage", "--recorded", "--no-job-service", "--out", "out")
	if code != cli.ExitViolation || !strings.Contains(out, "✗ S05") || !strings.Contains(out, "70 of them from recordings") {
		t.Errorf("%d %s%s", code, out, talk)
	}
	noCanary(t, vendorKey)

	profile, err := os.ReadFile("profiles/vendor.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("profiles/vendor.yaml", []byte(strings.Replace(string(profile), "model: m-1", "model: m-2", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	code, _, talk = run(t, "certify", "vendor", "--profiles", "profiles", "--contract", "triage", "--recorded", "--no-job-service", "--out", "out2")
	if code != cli.ExitUsage || !strings.Contains(talk, "record it anew") {
		t.Errorf("another model: %d %s", code, talk)
	}
}

// TestTheEndOfTheTimeKeepsWhatWasAnswered: three requests are answered, the fourth is
// not, and what was paid for is there.
func TestTheEndOfTheTimeKeepsWhatWasAnswered(t *testing.T) {
	for _, c := range []struct {
		name  string
		args  []string
		says  string
		holds func() (int, error)
	}{
		{"record", []string{"record", "--yes"}, "The time is over: 3 of 20 requests were answered; their recordings are in recordings/vendor.\n", func() (int, error) {
			found, err := filepath.Glob("recordings/vendor/*/*/meta.json")
			return len(found), err
		}},
		{"certify", []string{"certify", "--live", "--parallel", "1", "--no-job-service", "--out", "out"}, "The time is over: nothing was signed; the plan of the run and 3 answers that had come are in out.\n", func() (int, error) {
			text, err := os.ReadFile("out/transcripts.jsonl")
			return strings.Count(string(text), "\n"), err
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			server := vendor(t, "")
			silent, _ := silentServer(t, 3)
			write(t, "profiles/vendor.yaml", strings.Replace(readText(t, "profiles/vendor.yaml"), server.URL(), "http://"+silent, 1))
			code, out, talk := run(t, append(c.args, "vendor", "--profiles", "profiles", "--contract", "triage", "--timeout", "5s")...)
			if code != cli.ExitInfrastructure || out != "" || !strings.Contains(talk, c.says) {
				t.Errorf("%d %q %q, want %q", code, out, talk, c.says)
			}
			if n, err := c.holds(); n != 3 || err != nil {
				t.Errorf("%d answers are kept, want 3: %v", n, err)
			}
			if _, err := os.Lstat("out/certificate.dsse.json"); err == nil {
				t.Error("a certificate was written")
			}
		})
	}
}

func TestRecordWritesNothingWhereAnAnswerHoldsACredential(t *testing.T) {
	server := vendor(t, "")
	server.Script(standin.Match{}, standin.Answer{Status: 401, ErrorText: "no such key: sk-of-somebody-else-0123456789"})
	code, out, talk := run(t, "record", "vendor", "--profiles", "profiles", "--contract", "triage", "--yes")
	if code != cli.ExitUsage || out != "" || !strings.Contains(talk, "credential; nothing was written") || strings.Contains(talk, "somebody-else") {
		t.Errorf("%d %q %q", code, out, talk)
	}
	if _, err := os.Lstat("recordings"); err == nil {
		t.Error("something was written")
	}
}

func TestRecordKeepsNoKeyThatTheAnswerRepeats(t *testing.T) {
	server := vendor(t, "")
	server.Script(standin.Match{}, standin.Answer{Status: 401, ErrorText: "no such key: " + vendorKey})
	if code, out, talk := run(t, "record", "vendor", "--profiles", "profiles", "--contract", "triage", "--yes"); code != 0 || !strings.Contains(out, "20 redacted") {
		t.Errorf("%d %q %q", code, out, talk)
	}
	noCanary(t, vendorKey)
	found, err := filepath.Glob("recordings/vendor/*/*/meta.json")
	if err != nil || len(found) != 20 {
		t.Errorf("%d recordings", len(found))
	}
}

func TestRecordingsThatCannotBeUsedAreRefused(t *testing.T) {
	vendor(t, "")
	for want, args := range map[string][]string{
		"is no folder":             {"--recordings", "none"},
		"holds no recordings of":   {"--recordings", "profiles"},
		"needs --contract":         {"record"},
		"at least 1":               {"record", "--max-calls", "0"},
		"Did you mean triage":      {"record", "--contract", "traige"},
		"has no case \"en-crahs\"": {"record", "--case", "en-crahs"},
	} {
		command := []string{"certify", "vendor", "--profiles", "profiles", "--contract", "triage"}
		if args[0] == "record" {
			command = []string{"record", "vendor", "--profiles", "profiles"}
			if want != "needs --contract" && want != "Did you mean triage" {
				command = append(command, "--contract", "triage")
			}
			args = args[1:]
		}
		if code, out, talk := run(t, append(command, args...)...); code != cli.ExitUsage || out != "" || !strings.Contains(talk, want) {
			t.Errorf("%v: %d %q %q, want %q", args, code, out, talk, want)
		}
	}
}
