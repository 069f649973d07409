package report_test

import (
	"flag"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/interlock-harness/interlock/harness/history"
	"github.com/interlock-harness/interlock/harness/invariant"
	"github.com/interlock-harness/interlock/harness/report"
	"github.com/interlock-harness/interlock/harness/report/recount"
)

// another names the report folder of a real run to be counted anew, too.
var another = flag.String("folder", "", "a report folder of interlock verify whose figures are to be counted anew")

// whole is a run over stored histories, with its table of states, as a folder on
// disk.
func whole(t *testing.T, patterns ...string) string {
	t.Helper()
	plays := map[string][]history.Event{}
	for _, pattern := range patterns {
		maps.Copy(plays, stored(t, pattern))
	}
	s := newRun(t, filepath.Join(t.TempDir(), "out"), plays, nil, nil)
	var judged []invariant.History
	by := report.ByPlay(s.folder.Recorder.Events())
	for _, p := range s.run.Plays {
		judged = append(judged, invariant.Open(by[p.History]))
	}
	s.run.Coverage = invariant.Coverage(judged...)
	s.run.Skipped = []report.NotApplicable{{Slug: "clock-jump", Group: "database", Needs: 4}}
	s.run.End(s.folder.Recorder)
	if err := s.folder.Write(&s.run); err != nil {
		t.Fatal(err)
	}
	return s.folder.Dir
}

// TestEveryFigureIsCountedAnew has a reader that knows nothing of this package
// count what each file says from history.jsonl alone.
func TestEveryFigureIsCountedAnew(t *testing.T) {
	folders := []string{whole(t, "*")}
	if *another != "" {
		folders = append(folders, *another)
	}
	for _, dir := range folders {
		compared, differ, err := recount.Folder(dir)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %d figures compared", filepath.Base(dir), compared)
		if compared < 500 {
			t.Errorf("%d figures compared: the reader does not see the report", compared)
		}
		for _, d := range differ {
			t.Error(d)
		}
	}
}

// TestAChangedFigureIsFound changes one figure after the other, in each file and
// each part of the page, and expects the count to differ.
func TestAChangedFigureIsFound(t *testing.T) {
	dir := whole(t, "good-[b-f]*", "bad-[a-c]*", "open-*")
	for name, c := range map[string]struct{ file, pattern, with string }{
		"a verdict in report.json":      {"report.json", `"verdict": "pass",\n    "result"`, "\"verdict\": \"violation\",\n    \"result\""},
		"operations of a play":          {"report.json", `"operations": 2,`, `"operations": 3,`},
		"faults that fired":             {"report.json", `"faults_fired": 1`, `"faults_fired": 2`},
		"a count":                       {"report.json", `"inconclusive": (\d+)`, `"inconclusive": 1$1`},
		"a move of the machines":        {"report.json", `"seen": (\d+)`, `"seen": 1$1`},
		"a refused move":                {"report.json", `"refused": [1-9]`, `"refused": 77`},
		"how long the run took":         {"report.json", `"took_ms": (\d+),\n  "plays"`, "\"took_ms\": 1$1,\n  \"plays\""},
		"a card":                        {"report.html", `<b>(\d+)</b>`, `<b>1$1</b>`},
		"what was recorded":             {"report.html", `(\d+) provider calls`, `1$1 provider calls`},
		"operations in the table":       {"report.html", `(\d of \d</td><td class="num">)(\d+)`, `${1}1$2`},
		"ms in the table":               {"report.html", `(<td class="num">)(\d+)(</td></tr>\n<tr data-verdict)`, `${1}1$2$3`},
		"a time in an excerpt":          {"report.html", `(<tr class="here"><td class="num">)\d+`, `${1}987654`},
		"a cell of the states":          {"report.html", `✓ (\d+)</td>`, `✓ 1$1</td>`},
		"the sentence of the states":    {"report.html", `(\d+) of (\d+) legal moves`, `1$1 of $2 legal moves`},
		"the digest":                    {"report.html", `<dt>history.jsonl sha256</dt><dd>\w`, `<dt>history.jsonl sha256</dt><dd>z`},
		"failures of junit":             {"junit.xml", `failures="(\d+)"`, `failures="1$1"`},
		"the time of a scenario":        {"junit.xml", `(<testcase [^>]*time=")\d`, `${1}7`},
		"passed of ctrf":                {"ctrf.json", `"passed": (\d+)`, `"passed": 1$1`},
		"a violation fewer in the page": {"report.html", `(?s)<details class="violation.*?</details>`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(dir, c.file)
			was := read(t, path)
			place := regexp.MustCompile(c.pattern).FindStringSubmatchIndex(was)
			if place == nil {
				t.Fatalf("%s holds no %s", c.file, c.pattern)
			}
			changed := was[:place[0]] + string(regexp.MustCompile(c.pattern).ExpandString(nil, c.with, was, place)) + was[place[1]:]
			if err := os.WriteFile(path, []byte(changed), 0o644); err != nil {
				t.Fatal(err)
			}
			defer func() { _ = os.WriteFile(path, []byte(was), 0o644) }()
			if _, differ, err := recount.Folder(dir); err != nil || len(differ) == 0 {
				t.Errorf("not found: %v %v", differ, err)
			}
		})
	}
}

// TestAPlayThatCannotHavePassedIsFound calls broken plays passed.
func TestAPlayThatCannotHavePassedIsFound(t *testing.T) {
	for _, name := range []string{"bad-last-write-wins", "bad-second-job-for-one-key"} {
		events, known := stored(t, "bad-*")[name]
		if !known {
			continue
		}
		s := newRun(t, filepath.Join(t.TempDir(), "out"), map[string][]history.Event{"double-click": events}, nil, nil)
		s.run.Plays[0].Verdict, s.run.Plays[0].Result.Findings = invariant.Pass, nil
		if err := s.folder.Write(&s.run); err != nil {
			t.Fatal(err)
		}
		_, differ, err := recount.Folder(s.folder.Dir)
		if err != nil || !strings.Contains(strings.Join(differ, "\n"), "the history gives violation") {
			t.Errorf("%s: %v %v", name, differ, err)
		}
	}
}
