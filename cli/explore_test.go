package cli_test

import (
	"strings"
	"testing"
)

// The control is the clean store, played in the same run.
func TestExploreFindsAGuardThatIsTakenAway(t *testing.T) {
	code, said := interlock(t, "explore", "--interleave", "--mutants", "--only", "guard:release-attempt:1", "--lanes", "2")
	if code != 0 || !strings.Contains(said, "✓ guard:release-attempt:1 ") || !strings.Contains(said, "schedules, 0 broke a promise\n") ||
		!strings.Contains(said, "1 found, 0 survived, 0 beyond the pairs\n") {
		t.Errorf("exit %d: %s", code, said)
	}
}

// A guard that is redundant is not found, and then nothing has been shown.
func TestExploreThatFindsNoMutantIsInconclusive(t *testing.T) {
	code, said := interlock(t, "explore", "--interleave", "--mutants", "--only", "guard:reap-attempt:1", "--lanes", "2")
	if code != 2 || !strings.Contains(said, "- guard:reap-attempt:1 ") || !strings.Contains(said, "0 found, 0 survived, 1 beyond the pairs\nexit 2 (inconclusive)\n") {
		t.Errorf("exit %d: %s", code, said)
	}
}

func TestOnlyNamesMutantsOfTheExplorer(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"--interleave --only guard:release-attempt:1", "--only belongs to --mutants"},
		{"--interleave --mutant guard:complete-job:2+complete-job:1+schema --replay nowhere/submit+submit:0", "nowhere"}, // the group is known
		{"--interleave --mutants --only guard:complete-job:2+complete-job:99", `"guard:complete-job:2+complete-job:99" is no mutant`},
		{"--interleave --mutants --only guard:release-attempt:99", `"guard:release-attempt:99" is no mutant that the pairs are asked to find`},
	} {
		code, said := interlock(t, append([]string{"explore"}, strings.Fields(c.args)...)...)
		if code != 64 || !strings.Contains(said, c.want) {
			t.Errorf("%s: exit %d: %s", c.args, code, said)
		}
	}
}
