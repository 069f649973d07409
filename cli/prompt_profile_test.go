package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/interlock-harness/interlock/cli"
	"github.com/interlock-harness/interlock/providers/fixtures"
)

func TestAProfileIsNamedByItsNameOrByItsFile(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"vllm-demo.yaml", "vllm-demo.jinja", "vllm-demo.tokenizer.json", "openai-demo.yaml"} {
		text, err := fixtures.FS.ReadFile("profiles/" + name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var first string
	for _, what := range []string{"vllm-demo", filepath.Join(dir, "vllm-demo.yaml")} {
		for _, verb := range []string{"render", "show"} {
			code, stdout, stderr := run(t, "prompt", verb, what, "--contract", "triage")
			if first == "" {
				first = stdout
			}
			if code != cli.ExitOK || !strings.Contains(stdout, "<|im_start|>") || stdout != first {
				t.Errorf("prompt %s %s: exit %d, %q %q", verb, what, code, stdout, stderr)
			}
		}
	}
	for what, want := range map[string]string{
		"vlm-demo":                             "Did you mean vllm-demo?",
		"openai-demo":                          "no section prompt",
		filepath.Join(dir, "openai-demo.yaml"): "no section prompt",
		filepath.Join(dir, "none.yaml"):        "there is no file",
		dir:                                    "is a folder",
		filepath.Join(dir, "vllm-demo.jinja"):  "vllm-demo.jinja",
	} {
		code, stdout, stderr := run(t, "prompt", "render", what, "--contract", "triage")
		if code != cli.ExitUsage || stdout != "" || !strings.Contains(stderr, want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%s: exit %d, %q %q, want %q", what, code, stdout, stderr, want)
		}
	}
}
