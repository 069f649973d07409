package cli_test

import (
	"strings"
	"testing"

	"github.com/interlock-harness/interlock/cli"
	"github.com/interlock-harness/interlock/harness/invariant"
	"github.com/interlock-harness/interlock/harness/mutant"
	"github.com/interlock-harness/interlock/providers/check"
	"github.com/interlock-harness/interlock/scenarios"
)

func TestExplainKnowsEverythingThatHasAName(t *testing.T) {
	names := map[string]string{"unknown": "attempt state", "2": "exit code", "pass": "verdict"}
	for _, i := range invariant.All() {
		names[string(i.ID)] = i.Rule
	}
	for _, c := range check.All() {
		names[c.ID], names[strings.ToLower(c.ID)] = c.Title, c.Title
	}
	for _, i := range scenarios.All() {
		names[i.Slug] = i.Title
	}
	for _, m := range mutant.All() {
		names[m.Name] = m.Description
	}
	for name, want := range names {
		if code, stdout, stderr := run(t, "explain", name); code != cli.ExitOK || !strings.Contains(stdout, want) {
			t.Errorf("%s: exit %d, want %q in %q%s", name, code, want, stdout, stderr)
		}
	}
	if code, _, stderr := run(t, "explain", "S0"); code != cli.ExitUsage || !strings.Contains(stderr, "nothing is called") {
		t.Errorf("exit %d: %s", code, stderr)
	}
}
