package report_test

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/interlock-harness/interlock/harness/history"
	"github.com/interlock-harness/interlock/harness/invariant"
	"github.com/interlock-harness/interlock/harness/report"
)

// mixed is a run with one scenario of each verdict, and a canary.
func mixed(t testing.TB, dir string) sampleRun {
	good, bad, open := stored(t, "good-*"), stored(t, "bad-*"), stored(t, "open-*")
	quiet := open["open-fault-did-not-fire"]
	return newRun(t, dir, map[string][]history.Event{
		"double-click": good["good-double-click"], "lost-response-retry": good["good-lost-response"],
		"reverse-order": bad["bad-last-write-wins"], "simultaneous-finish": good["good-first-returns-first"],
		"postgres-restart-under-load": quiet, "fault-did-not-fire": quiet,
	}, map[string]string{
		"reverse-order": "completion", "simultaneous-finish": "completion", "postgres-restart-under-load": "database", "fault-did-not-fire": "canary",
	}, map[string]invariant.Expect{
		"reverse-order": {Invariants: []invariant.ID{"I5", "I6"}}, "fault-did-not-fire": {Verdict: invariant.Inconclusive},
	})
}

func TestSummaryOfARun(t *testing.T) {
	s := mixed(t, t.TempDir())
	s.run.Skipped = []report.NotApplicable{{Slug: "clock-jump", Group: "database", Needs: 4}}
	same(t, "testdata/summary.txt", s.run.Summary(report.Places{HTML: "interlock-out/latest/report.html"}, report.Style{}))
	if c := s.run.Counts(); c != (report.Counts{Pass: 4, Violation: 1, Inconclusive: 1, Armed: 4, Fired: 3}) {
		t.Errorf("counts %+v", c)
	}
	if v := s.run.Verdict(); v != invariant.Violation || report.ExitCode(v) != 1 {
		t.Errorf("verdict %s", v)
	}
}

func TestNoLineEndsBetweenTheWordLevelAndItsNumber(t *testing.T) {
	for n := range 60 {
		r := report.Run{Seed: 7096, Level: 1, Target: "http://" + strings.Repeat("h", n), Stage: "Toxiproxy 2.12.0 inside the process"}
		if head, _, _ := strings.Cut(r.Summary(report.Places{}, report.Style{}), "\n\n"); !strings.HasSuffix(head, "level L1") {
			t.Errorf("a target of %d characters: %s", len(r.Target), head)
		}
	}
}

func TestRunOfNothingIsInconclusive(t *testing.T) {
	r := report.Run{}
	if r.Verdict() != invariant.Inconclusive || !strings.Contains(r.Summary(report.Places{}, report.Style{}), "exit 2 (inconclusive)") {
		t.Error(r.Summary(report.Places{}, report.Style{}))
	}
}

func TestCanaryThatComesOutWrongIsTheHarnessAtFault(t *testing.T) {
	good := stored(t, "good-one-click")["good-one-click"]
	for name, p := range map[string]report.Play{
		"passes though it must be inconclusive": play("fault-did-not-fire", "canary", good, invariant.Expect{Verdict: invariant.Inconclusive}),
		"passes though it must be violated":     play("always-broken", "canary", good, invariant.Expect{Verdict: invariant.Violation}),
		"is violated by another invariant than it must": func() report.Play {
			p := play("always-broken", "canary", stored(t, "bad-stale-read")["bad-stale-read"], invariant.Expect{Verdict: invariant.Violation})
			p.MustBreak = "I1"
			return p
		}(),
	} {
		t.Run(name, func(t *testing.T) {
			r := report.Run{Plays: []report.Play{p}}
			if r.Verdict() != invariant.Infrastructure {
				t.Errorf("verdict %s", r.Verdict())
			}
			if text := r.Violation(p, good, report.Places{}, report.Style{}); !strings.Contains(text, "can be trusted") || !strings.HasPrefix(text, "! ") {
				t.Error(text)
			}
		})
	}
}

func TestWriteLeavesAWholeFolder(t *testing.T) {
	s := mixed(t, filepath.Join(t.TempDir(), "out"))
	if err := s.folder.Write(&s.run); err != nil {
		t.Fatal(err)
	}
	dir := s.folder.Dir
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") {
			t.Errorf("%s was left behind", e.Name())
		}
	}

	var suite struct {
		Tests    int `xml:"tests,attr"`
		Failures int `xml:"failures,attr"`
		Errors   int `xml:"errors,attr"`
		Cases    []struct {
			Name    string  `xml:"name,attr"`
			Class   string  `xml:"classname,attr"`
			Failure *string `xml:"failure"`
			Error   *string `xml:"error"`
		} `xml:"testcase"`
	}
	if err := xml.Unmarshal([]byte(read(t, dir, report.JUnitFile)), &suite); err != nil {
		t.Fatal(err)
	}
	if suite.Tests != 6 || suite.Failures != 1 || suite.Errors != 1 || len(suite.Cases) != 6 {
		t.Errorf("junit %+v", suite)
	}
	for _, c := range suite.Cases {
		if strings.ContainsAny(c.Name, " [#") || !strings.HasPrefix(c.Class, "interlock.") {
			t.Errorf("test case %q of %q is no stable id", c.Name, c.Class)
		}
		if (c.Name == "reverse-order") != (c.Failure != nil) || (c.Name == "postgres-restart-under-load") != (c.Error != nil) {
			t.Errorf("test case %s: failure %v, error %v", c.Name, c.Failure, c.Error)
		}
	}

	var ctrf struct {
		Results struct {
			Summary map[string]int64
			Tests   []struct{ Name, Status string }
		}
	}
	if err := json.Unmarshal([]byte(read(t, dir, report.CTRFFile)), &ctrf); err != nil {
		t.Fatal(err)
	}
	if sum := ctrf.Results.Summary; sum["tests"] != 6 || sum["passed"] != 4 || sum["failed"] != 1 || sum["other"] != 1 {
		t.Errorf("ctrf %v", sum)
	}
	if text := read(t, dir, report.SummaryFile); !strings.Contains(text, "## ✗ violation: 4 pass, 1 violation, 1 inconclusive") || len(text) > 64<<10 {
		t.Error(text)
	}

	again, err := report.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	if again.Verdict != invariant.Violation || again.ExitCode != 1 || len(again.Run.Plays) != 6 || again.Scenarios[0].Again != "interlock verify double-click --seed 7" {
		t.Errorf("%+v", again)
	}
}

func TestSecondRunIntoOneFolderIsRefused(t *testing.T) {
	dir := t.TempDir()
	first, err := report.NewFolder(dir, 7, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := report.NewFolder(dir, 7, time.Now()); !errors.Is(err, report.ErrTaken) {
		t.Errorf("while the first runs: %v", err)
	}
	if err := first.Write(&report.Run{}); err != nil {
		t.Fatal(err)
	}
	if _, err := report.NewFolder(dir, 7, time.Now()); !errors.Is(err, report.ErrTaken) {
		t.Errorf("after it: %v", err)
	}
}

func TestDefaultFolderIsCalledLatest(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, seed := range []int64{7, 8} {
		f, err := report.NewFolder("", seed, time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC))
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Write(&report.Run{ID: "r", Seed: seed}); err != nil {
			t.Fatal(err)
		}
		if got := f.Shown(report.ReportFile); got != "interlock-out/latest/report.json" {
			t.Errorf("shown as %s", got)
		}
		s, err := report.Load("interlock-out/latest")
		if err != nil || s.Run.Seed != seed {
			t.Errorf("latest is %+v, %v", s.Run, err)
		}
	}
	if _, err := os.Stat("interlock-out/20261129-120000-7/history.jsonl"); err != nil {
		t.Error(err)
	}
}

func TestNothingHalfIsLeftWhereNothingCanBeWritten(t *testing.T) {
	s := mixed(t, t.TempDir())
	if err := s.folder.Recorder.Close(); err != nil {
		t.Fatal(err)
	}
	// A folder in the place of the last file lets every step but its rename work.
	if err := os.MkdirAll(filepath.Join(s.folder.Dir, report.ReportFile, "x"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := report.WriteDir(s.folder.Dir, &s.run, s.folder.Recorder.Events(), report.Page{}); err == nil {
		t.Fatal("no error")
	}
	entries, err := os.ReadDir(s.folder.Dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") {
			t.Errorf("%s was left behind", e.Name())
		}
	}
}

// poison puts a hostile text everywhere a target could write one.
func poison(events []history.Event, text string) []history.Event {
	quoted, _ := json.Marshal(text)
	inner := string(quoted[1 : len(quoted)-1])
	out := make([]history.Event, len(events))
	for i, e := range events {
		if e.Key != "" {
			e.Key = text
		}
		if e.Owner != "" {
			e.Owner = text
		}
		if e.Actor != "" {
			e.Actor = text
		}
		for _, known := range []string{"deadline", "late", "seen", "EOF", "asked the vendor", "openai-demo", "invoice@1.0.0"} {
			e.Data = []byte(strings.ReplaceAll(string(e.Data), `"`+known+`"`, `"`+inner+`"`))
		}
		out[i] = e
	}
	return out
}
