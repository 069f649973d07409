package cli_test

import (
	"os"
	"strings"
	"testing"

	"github.com/interlock-harness/interlock/cli"
	"github.com/interlock-harness/interlock/providers/profile"
)

func TestAVendorNeedsAKeyAndAModelAndNothingElse(t *testing.T) {
	server := vendor(t, "")
	args := []string{"certify", "openai", "--contract", "triage", "--live", "--no-job-service", "--out", "out", "--base-url", server.URL() + "/v1"}
	t.Setenv("OPENAI_API_KEY", vendorKey)
	if code, _, talk := run(t, args...); code != cli.ExitUsage || !strings.Contains(talk, "which model with --model") {
		t.Errorf("%d %s", code, talk)
	}
	code, out, talk := run(t, append(args, "--model", "m-1")...)
	if code != cli.ExitInconclusive || !strings.Contains(out, "openai (openai-chat, model m-1)") || !strings.Contains(out, "X03") || strings.Contains(out, "✗") {
		t.Errorf("%d %s%s", code, out, talk)
	}
	noCanary(t, vendorKey)
	deployed, err := profile.LoadAll(os.DirFS("."), "out")
	if err != nil || deployed["openai"].Model != "m-1" || deployed["openai"].Auth.Env != "OPENAI_API_KEY" {
		t.Errorf("%v, to be deployed: %+v", err, deployed)
	}
	for want, more := range map[string][]string{
		"Did you mean anthropic":      {"certify", "antropic", "--model", "m", "--contract", "triage"},
		"--base-url goes with":        {"certify", "openai-demo", "--contract", "triage", "--base-url", "https://x.example"},
		"--base-url: base_url holds ": {"certify", "openai", "--model", "m", "--contract", "triage", "--base-url", "https://user:pw@x.example"},
	} {
		if code, out, talk := run(t, more...); code != cli.ExitUsage || out != "" || !strings.Contains(talk, want) {
			t.Errorf("%v: %d %q %q", more, code, out, talk)
		}
	}
}
