package cli_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/interlock-harness/interlock/harness/plan"
)

// TestReplayShrinksAPlanToWhatBreaksTheSame gives a race that the service loses
// five steps more than it needs.
func TestReplayShrinksAPlanToWhatBreaksTheSame(t *testing.T) {
	file := filepath.Join(t.TempDir(), "plan.json")
	drawn := plan.Plan{Format: plan.Format, Mutant: "last-write-wins", Invariant: "I5", Steps: slices.Concat(
		[]plan.Step{{Do: plan.Submit, Job: "b"}, {Do: plan.Stall, Job: "c", N: 1}, {Do: plan.Submit, Job: "c"}}, lateAnswer,
		[]plan.Step{{Do: plan.Submit, Job: "d"}, {Do: plan.Answer, Job: "c", N: 1}})}
	if err := drawn.Write(file); err != nil {
		t.Fatal(err)
	}
	code, out, said := run(t, "replay", file, "--shrink", "--times", "2")
	small, err := plan.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	if small.Mutant != drawn.Mutant || small.Invariant != "I5" || len(small.Steps) == 0 || len(small.Steps) > len(lateAnswer) ||
		slices.ContainsFunc(small.Steps, func(s plan.Step) bool { return s.Job != "a" }) {
		t.Errorf("the plan is now %+v", small)
	}
	operations, faults := drawn.Size()
	fewer, less := small.Size()
	for _, want := range []string{fmt.Sprintf("%d operations -> %d, %d faults -> %d, still I5 (2 of 2)\n", operations, fewer, faults, less), "I5 violation: ", "I5 in 2 of 2\n"} {
		if code != 1 || !strings.Contains(out, want) {
			t.Errorf("exit %d, without %q:\n%s%s", code, want, out, said)
		}
	}

	code, out, said = run(t, "replay", file, "--shrink", "--times", "1", "--json")
	var told struct {
		Verdict string
		Broke   map[string]int
		Shrunk  struct{ Operations, Faults [2]int }
		Exit    int
	}
	if err := json.Unmarshal([]byte(out), &told); err != nil {
		t.Fatalf("%v\n%s%s", err, out, said)
	}
	if code != 1 || told.Exit != 1 || told.Verdict != "violation" || told.Broke["I5"] != 1 || told.Shrunk.Operations[0] != fewer || told.Shrunk.Faults[0] != less ||
		told.Shrunk.Operations[1] > fewer || told.Shrunk.Faults[1] > less {
		t.Errorf("exit %d, told %+v", code, told)
	}
}
