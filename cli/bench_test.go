package cli_test

import (
	"encoding/json"
	"os"
	"regexp"
	"testing"

	"github.com/interlock-harness/interlock/harness/bench"
)

// TestBenchIsComparedWithItsBaseline compares a count that is 0 on a machine of any
// speed with what an earlier run wrote, and with what it could have written.
func TestBenchIsComparedWithItsBaseline(t *testing.T) {
	t.Chdir(t.TempDir())
	measure := []string{"bench", "service", "--only", "raced", "--raced", "4", "--clients", "2", "--duration", "1s"}
	code, out, said := run(t, append(measure, "--json")...)
	var row bench.Row
	if err := json.Unmarshal([]byte(out), &row); err != nil || code != 0 || row.Ours != 0 || row.Ratio != 0 || !row.Holds || row.Before != nil || row.Compared != "" {
		t.Fatalf("exit %d, %v: %+v\n%s", code, err, row, said)
	}
	for _, c := range []struct {
		name          string
		ratio, spread float64
		code          int
		says          string
	}{
		{"as it was written", 0, 0, 0, `(?m)^✓ raced jobs with a violation +0 jobs .*\n\n.*\n  raced.* 0 +0 +same`},
		{"turns too far apart", 0, 0.5, 2, `(?m)^\? raced jobs with a violation +0 jobs .*\n\n.*\n  raced.* 0 +0 +unclear`},
		{"better than now", -1, 0, 1, `(?m)^✗ raced jobs with a violation +0 jobs .*\n\n.*\n  raced.* -1 +0 +-100 %, worse`},
	} {
		before := row
		before.Ratio, before.Spread = c.ratio, c.spread
		text, err := json.Marshal(before)
		if err == nil {
			err = os.WriteFile("before.json", text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		code, out, said := run(t, append(measure, "--baseline", "before.json")...)
		if code != c.code || !regexp.MustCompile(c.says).MatchString(out) {
			t.Errorf("%s: exit %d, want %d and %s\n%s%s", c.name, code, c.code, c.says, out, said)
		}
	}
}
