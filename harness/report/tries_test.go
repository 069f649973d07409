package report_test

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/interlock-harness/interlock/harness/history"
	"github.com/interlock-harness/interlock/harness/invariant"
	"github.com/interlock-harness/interlock/harness/report"
)

// repeated is a run of one scenario whose tries came out as verdicts says, with a
// history for each.
func repeated(t *testing.T, verdicts ...invariant.Verdict) (*report.Run, *report.Folder) {
	t.Helper()
	folder, err := report.NewFolder(filepath.Join(t.TempDir(), "out"), 7, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	run := &report.Run{ID: "r", Seed: 7, Level: 4, Target: "built-in service", Started: time.Now()}
	run.Begin(folder.Recorder)
	for i, verdict := range verdicts {
		try, seed := i+1, int64(7+i)
		name := report.TryName("reverse-order", try)
		facts := history.FaultFacts{Edge: "worker-provider", Detail: "the answer is held"}
		part := history.New()
		rec := part.Child("reverse-order")
		rec.Phase(history.PhaseMain, history.PhaseFacts{})
		rec.Armed("stall", facts)
		folder.Recorder.Adopt(history.Part{Events: part.Events(), Began: time.Now(), Name: func(play string) string { return report.TryOf(play, try) }})
		p := report.Play{
			Slug: "reverse-order", Title: "the second attempt finishes first", Group: "completion", History: name, Try: try, Seed: seed,
			Verdict: verdict, Result: invariant.Result{Verdict: verdict},
		}
		if verdict == invariant.Violation {
			p.Result.Findings = []invariant.Finding{{Invariant: "I5", Verdict: verdict, Sentence: "Two attempts wrote the result.", Expected: "1", Found: "2"}}
		}
		run.Plays = append(run.Plays, p)
		run.Rounds = append(run.Rounds, report.Round{Try: try, Seed: seed, Verdict: verdict, Plays: 1})
	}
	run.End(folder.Recorder)
	return run, folder
}

const (
	pass         = invariant.Pass
	violation    = invariant.Violation
	inconclusive = invariant.Inconclusive
)

// TestTheWorstTryIsTheVerdict: neither the last nor the most frequent one counts.
func TestTheWorstTryIsTheVerdict(t *testing.T) {
	for _, c := range []struct {
		tries []invariant.Verdict
		want  invariant.Verdict
	}{
		{[]invariant.Verdict{pass, pass, pass}, pass},
		{[]invariant.Verdict{violation, pass, pass}, violation},
		{[]invariant.Verdict{pass, violation, pass}, violation},
		{[]invariant.Verdict{pass, pass, violation}, violation},
		{[]invariant.Verdict{inconclusive, pass, pass}, inconclusive},
		{[]invariant.Verdict{inconclusive, violation, pass}, violation},
	} {
		t.Run(fmt.Sprint(c.tries), func(t *testing.T) {
			run, _ := repeated(t, c.tries...)
			if got := run.Verdict(); got != c.want {
				t.Errorf("the run is %s, want %s", got, c.want)
			}
			s := run.Scenarios()
			if len(s) != 1 || s[0].Verdict != c.want || s[0].Tries != 3 {
				t.Errorf("the scenarios are %+v", s)
			}
			if counts := run.Counts(); counts.Pass+counts.Violation+counts.Inconclusive != 1 {
				t.Errorf("one scenario is counted as %+v", counts)
			}
		})
	}
}

// TestARoundThatWasOnlyCountedIsJudgedToo: a verdict of a round without plays counts.
func TestARoundThatWasOnlyCountedIsJudgedToo(t *testing.T) {
	run, _ := repeated(t, pass)
	run.Rounds = append(run.Rounds, report.Round{Try: 2, Seed: 8, Verdict: inconclusive})
	if got := run.Verdict(); got != inconclusive {
		t.Errorf("%s, want inconclusive", got)
	}
}

// TestEveryTryIsInEveryFile reads what was written: each try is there under its own
// name, the violated one as a failure, and the check agrees.
func TestEveryTryIsInEveryFile(t *testing.T) {
	run, folder := repeated(t, pass, violation, pass)
	if err := folder.Write(run); err != nil {
		t.Fatal(err)
	}
	names := []string{"reverse-order/1", "reverse-order/2", "reverse-order/3"}
	var suite struct {
		Tests    int `xml:"tests,attr"`
		Failures int `xml:"failures,attr"`
		Cases    []struct {
			Name    string    `xml:"name,attr"`
			Failure *struct{} `xml:"failure"`
		} `xml:"testcase"`
	}
	if err := xml.Unmarshal([]byte(read(t, folder.Dir, report.JUnitFile)), &suite); err != nil {
		t.Fatal(err)
	}
	var cases []string
	for _, c := range suite.Cases {
		cases = append(cases, c.Name)
		if (c.Failure != nil) != (c.Name == "reverse-order/2") {
			t.Errorf("failure of %s: %v", c.Name, c.Failure != nil)
		}
	}
	if !slices.Equal(cases, names) || suite.Tests != 3 || suite.Failures != 1 {
		t.Errorf("junit.xml has %d tests, %d failures: %q", suite.Tests, suite.Failures, cases)
	}
	var ctrf struct {
		Results struct {
			Tests []struct{ Name, Status string }
		}
	}
	if err := json.Unmarshal([]byte(read(t, folder.Dir, report.CTRFFile)), &ctrf); err != nil {
		t.Fatal(err)
	}
	for i, test := range ctrf.Results.Tests {
		if want := map[bool]string{true: "failed", false: "passed"}[i == 1]; test.Name != names[i] || test.Status != want {
			t.Errorf("ctrf.json says %s %s, want %s %s", test.Name, test.Status, names[i], want)
		}
	}
	byPlay, err := report.ReadHistory(folder.Dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if len(byPlay[name]) != 2 {
			t.Errorf("the history of %s has %d events, want 2", name, len(byPlay[name]))
		}
	}
	stored, err := report.Load(folder.Dir)
	if err != nil {
		t.Fatal(err)
	}
	s := stored.Scenarios[0]
	if want := []report.Try{{Try: 2, Seed: 8, Verdict: violation}}; !slices.Equal(s.Unmet, want) || s.Again != "interlock verify reverse-order --seed 8" {
		t.Errorf("not met are %+v, again %q; want %+v", s.Unmet, s.Again, want)
	}
	for name, want := range map[string]string{report.HTMLFile: `id="tries"`, report.SummaryFile: ", 1 of 3 tries |"} {
		if !strings.Contains(read(t, folder.Dir, name), want) {
			t.Errorf("%s does not hold %q", name, want)
		}
	}
}

// TestTheTextOfARepeatedViolationFitsAScreen: however often it was violated.
func TestTheTextOfARepeatedViolationFitsAScreen(t *testing.T) {
	tries := slices.Repeat([]invariant.Verdict{violation, pass}, 60)
	run, folder := repeated(t, tries...)
	told := run.Told()
	if len(told) != 1 || told[0].Try != 1 {
		t.Fatalf("%d plays are told of, the first is %+v", len(told), told)
	}
	events := report.ByPlay(folder.Recorder.Events())
	for name, text := range map[string]string{
		"violation": run.Violation(told[0], events[told[0].History], report.Places{HTML: "interlock-out/latest/report.html"}, report.Style{}),
		"summary":   run.Summary(report.Places{HTML: "interlock-out/latest/report.html"}, report.Style{}),
	} {
		lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
		if len(lines) > 24 {
			t.Errorf("the %s has %d lines", name, len(lines))
		}
		for _, l := range lines {
			if len([]rune(l)) > 80 {
				t.Errorf("the %s has %d columns: %s", name, len([]rune(l)), l)
			}
		}
	}
	text := run.Violation(told[0], nil, report.Places{}, report.Style{})
	for _, want := range []string{"60 of 120, this is try 1; seeds 7 9 11", "again    interlock verify reverse-order --seed 7\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("it does not say %q:\n%s", want, text)
		}
	}
	if text := run.Summary(report.Places{}, report.Style{}); !strings.Contains(text, "120 tries, seeds 7 to 126: 60 clean") || !strings.Contains(text, "60 of 120 tries: breaks") {
		t.Errorf("the summary says\n%s", text)
	}
}

// TestATryThatIsToldOtherwiseIsSeen changes what report.json says of the tries.
func TestATryThatIsToldOtherwiseIsSeen(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*report.Run)
		want   string
	}{
		"another verdict":  {func(r *report.Run) { r.Rounds[1].Verdict = inconclusive }, "try 2 is pass"},
		"a play too many":  {func(r *report.Run) { r.Rounds[1].Plays = 2 }, "try 2 is pass by its 1 plays"},
		"no row":           {func(r *report.Run) { r.Rounds = r.Rounds[:1] }, "try 2 has plays"},
		"counted, and not": {func(r *report.Run) { r.Rounds[0].CountedOnly = true }, "only counted"},
	} {
		t.Run(name, func(t *testing.T) {
			run, folder := repeated(t, pass, pass)
			c.change(run)
			if err := folder.Write(run); err != nil {
				t.Fatal(err)
			}
			checked, err := report.Check(folder.Dir)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.ContainsFunc(checked.Problems, func(p string) bool { return strings.Contains(p, c.want) }) {
				t.Errorf("the problems are %q, want one with %q", checked.Problems, c.want)
			}
		})
	}
}

// TestARunThatWasCutShortIsNoPass: what was asked for was not played.
func TestARunThatWasCutShortIsNoPass(t *testing.T) {
	run, _ := repeated(t, pass, pass)
	run.Interrupted = true
	if got := run.Verdict(); got != inconclusive {
		t.Errorf("%s, want inconclusive", got)
	}
}
