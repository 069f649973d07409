package cli_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/interlock-harness/interlock/cli"
	"github.com/interlock-harness/interlock/providers/fixtures"
)

func TestCertifyShowsWhatABadProviderIsRejectedFor(t *testing.T) {
	t.Chdir(t.TempDir())
	for fault, want := range map[string]string{
		"no-generation-prompt": "✗ P01   R7: ", "list-literal-content": "✗ P01   R12: ", "system-dropped": "✗ P02   R1: ",
	} {
		code, out, talk := run(t, "certify", "vllm-demo", "--contract", "triage", "--bad", fault, "--no-job-service", "--out", fault)
		if code != cli.ExitViolation || !strings.Contains(out, want) || !strings.Contains(out, "Not certified: 1 must check failed.") ||
			!strings.Contains(out, "--bad "+fault+" --check") {
			t.Errorf("%s: %d\n%s%s", fault, code, out, talk)
		}
		if _, err := os.Stat(filepath.Join(fault, "certificate.dsse.json")); err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Stat("interlock-out/certificates"); err == nil {
		t.Error("the certificate of a bad provider lies where the gate looks")
	}
	for want, args := range map[string][]string{
		"Did you mean system-dropped": {"certify", "vllm-demo", "--contract", "triage", "--bad", "system-droped"},
		"shows nor counts prompts":    {"certify", "openai-demo", "--contract", "triage", "--bad", "system-dropped"},
		"asks the provider itself":    {"certify", "vllm-demo", "--contract", "triage", "--bad", "fenced", "--live"},
	} {
		if code, out, talk := run(t, args...); code != cli.ExitUsage || out != "" || !strings.Contains(talk, want) {
			t.Errorf("%q: %d %q %q", args, code, out, talk)
		}
	}
}

func TestCertifySaysWhichChecksDoNotApply(t *testing.T) {
	t.Chdir(t.TempDir())
	_, out, _ := run(t, "certify", "openai-demo", "--contract", "triage", "--no-job-service")
	if !strings.Contains(out, "not applicable: P01, P02, P03, P04, P05 (the profile has no section prompt)") {
		t.Error(out)
	}
}

// A profile whose files are not those that it names certifies nothing.
func TestCertifyRefusesASectionPromptWithOtherFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	shipped, err := fs.Sub(fixtures.FS, "profiles")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"vllm-demo.jinja": "template vllm-demo.jinja has the digest", "": ""} {
		dir := "profiles" + name
		if err := os.CopyFS(dir, shipped); err != nil {
			t.Fatal(err)
		}
		if name != "" {
			if err := os.Remove(filepath.Join(dir, "lock.json")); err != nil { // it would say so first
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, name), []byte("{{ messages }}"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		code, _, talk := run(t, "certify", "vllm-demo", "--profiles", dir, "--contract", "triage", "--dry-run")
		if (code == cli.ExitOK) != (want == "") || !strings.Contains(talk, want) {
			t.Errorf("%q: %d %s", name, code, talk)
		}
	}
}

func TestADryRunTellsThatPromptsAreAskedFor(t *testing.T) {
	t.Chdir(t.TempDir())
	for live, want := range map[string]bool{"--live": true, "--recorded": false} {
		code, out, talk := run(t, "certify", "vllm-demo", "--contract", "triage", "--dry-run", live)
		if code != cli.ExitOK || strings.Contains(out, "endpoints for prompts (vllm)") != want {
			t.Errorf("%s: %d\n%s%s", live, code, out, talk)
		}
	}
}
