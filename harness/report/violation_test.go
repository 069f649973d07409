package report_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/interlock-harness/interlock/harness/history"
	"github.com/interlock-harness/interlock/harness/invariant"
	"github.com/interlock-harness/interlock/harness/report"
)

var update = flag.Bool("update", false, "write the texts anew")

func TestEveryViolationIsToldInTwentyFourLines(t *testing.T) {
	run := report.Run{Seed: 7, Level: 4, Target: "built-in service"}
	for name, events := range stored(t, "bad-*") {
		t.Run(name, func(t *testing.T) {
			p := play(name, "submit", events, invariant.Expect{})
			text := run.Violation(p, events, report.Places{HTML: "interlock-out/latest/report.html"}, report.Style{})
			lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
			if len(lines) > 24 {
				t.Errorf("%d lines", len(lines))
			}
			for _, l := range lines {
				if n := utf8.RuneCountInString(l); n > 80 && !strings.HasPrefix(l, "  look ") && !strings.HasPrefix(l, "  again ") {
					t.Errorf("%d columns: %s", n, l)
				}
			}
			for _, part := range []string{"✗ " + name, "\n  fault ", "\n  invariant  ", "\n  expected ", "\n  found ", " ms  ", "<- here", "\n  again    interlock verify " + name + " --seed 7", "\n  look     interlock-out", "\n  explain  interlock explain I"} {
				if !strings.Contains(text, part) {
					t.Errorf("%q is missing:\n%s", part, text)
				}
			}
		})
	}
}

func TestTheTextOfALostRace(t *testing.T) {
	name := "bad-last-write-wins"
	events := stored(t, name)[name]
	run := report.Run{Seed: 7, Level: 4, Target: "built-in service"}
	p := play("reverse-order", "completion", events, invariant.Expect{Invariants: []invariant.ID{"I5", "I6"}})
	same(t, "testdata/violation.txt", run.Violation(p, events, report.Places{HTML: "interlock-out/latest/report.html"}, report.Style{}))
}

// same compares a text with the one that lies in the tree.
func same(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want := read(t, path); got != want {
		t.Errorf("%s is now\n%s\nand was\n%s", path, got, want)
	}
}

func TestAnErrorIsToldInItsOwnWords(t *testing.T) {
	s := newRun(t, filepath.Join(t.TempDir(), "out"), map[string][]history.Event{"poison-job": stored(t, "good-one-click")["good-one-click"]}, nil, nil)
	p := s.run.Plays[0]
	p.Verdict = invariant.Violation
	p.Trouble = "the good job is done\nUnexpected error:\n    <*fmt.wrapError | 0x3849a4bfbde0>: \n    waited in vain: job is [succeeded]\n    {\n        msg: \"waited in vain\",\n        err: <context.deadlineExceededError>{},\n    }\noccurred"
	text := s.run.Violation(p, nil, report.Places{}, report.Style{})
	if !strings.Contains(text, "the good job is done: waited in vain: job is [succeeded]\n") || strings.Contains(text, "0x") {
		t.Error(text)
	}
}
