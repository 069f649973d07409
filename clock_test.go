package main_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// wallClock are the files that decide about a run and may nevertheless read the wall
// clock, each with what for. No deadline hangs on any of these.
var wallClock = map[string]string{
	"harness/fault/clock.go":           "says what the clock of the database said",
	"harness/target/rows.go":           "writes times of rows into the history",
	"harness/edge/pgstep.go":           "a deadline that has passed, whatever the clock says",
	"harness/edge/tls.go":              "serial numbers of certificates",
	"harness/history/adopt.go":         "puts histories of several processes on one axis",
	"harness/stage/pgserver/initdb.go": "the name of a cached cluster",
	"harness/bench/pgbench.go":         "a name of its own for each run",
}

// A time that was written, parsed, rounded or made from a number has lost its
// monotonic reading, and a deadline made of it would follow a clock that is set.
// Timeouts of contexts and timers do not.
func TestNoDeadlineOfTheHarnessFollowsTheWallClock(t *testing.T) {
	wall := regexp.MustCompile(`\.Round\(0\)|\.UTC\(\)|\.Local\(\)|time\.Unix\(|\.Unix(Nano|Milli|Micro)?\(\)|time\.Parse\(|WithDeadline\(`)
	seen := map[string]bool{}
	for _, root := range []string{"harness", "scenarios"} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.HasPrefix(path, "harness/report/") {
				return err // a report tells times, and decides nothing
			}
			text, err := os.ReadFile(path)
			if found := wall.Find(text); found != nil {
				seen[path] = true
				if wallClock[path] == "" {
					t.Errorf("%s reads the wall clock (%s): a run would turn out differently when it is set", path, found)
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for path := range wallClock {
		if !seen[path] {
			t.Errorf("%s does not read the wall clock any more", path)
		}
	}
	for text, want := range map[string]bool{"time.Now().UTC()": true, "time.Unix(1, 0)": true, "context.WithDeadline(ctx, at)": true, "time.Now().Add(d)": false, "context.WithTimeout(ctx, d)": false} {
		if wall.MatchString(text) != want {
			t.Errorf("%s: seen %v, want %v", text, !want, want)
		}
	}
}
