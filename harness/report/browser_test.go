package report_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/interlock-harness/interlock/harness/browser"
	"github.com/interlock-harness/interlock/harness/history"
	"github.com/interlock-harness/interlock/harness/invariant"
	"github.com/interlock-harness/interlock/harness/mutant"
	"github.com/interlock-harness/interlock/harness/report"
)

// toBrowse bounds the whole of the browser tests.
const toBrowse = 8 * time.Minute

// TestThePageInABrowser runs console/browser/report.test.mjs over pages from disk:
// what needs a script, a screen and a keyboard.
func TestThePageInABrowser(t *testing.T) {
	dir := t.TempDir()
	hostile := pagesForABrowser(t, dir)
	ctx, cancel := context.WithTimeout(t.Context(), toBrowse)
	defer cancel()
	cmd, err := browser.Command(ctx, filepath.Join("..", "..", "console", "browser"), "report.test.mjs", "PAGES="+dir, "HOSTILE="+strings.Join(hostile, " "))
	if err != nil {
		t.Skip(err)
	}
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Fatal(err)
	}
}

// pagesForABrowser writes a run with every section, a page without a run, a run
// before it, and pages with hostile text, whose names it returns.
func pagesForABrowser(t *testing.T, dir string) (names []string) {
	t.Helper()
	put := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	first, _ := mutant.Find("cancel-bumps-no-version")
	m := mutant.NewMatrix(7, append(mutant.All()[:2], first), []mutant.Played{{Scenario: "cancel-vs-complete", Verdict: "pass"}, {Mutant: first.Name, Scenario: "cancel-vs-complete", Verdict: "violation", Violated: []string{"I15"}}})
	table := report.Extra{ID: "checks", Title: "Provider by check", Intro: "Two providers.", Columns: []string{"check", "openai-demo"}, Rows: [][]report.Cell{
		{{Text: "S01"}, {Text: "8 of 8, ≥ 0.69", Verdict: invariant.Pass}}, {{Text: "S02"}, {Text: "7 of 8", Verdict: invariant.Violation, Title: "key \"notes\""}}, {{Text: "S03"}, {Text: "0 of 0", Verdict: invariant.Inconclusive}},
	}}
	s := mixed(t, filepath.Join(dir, "out"))
	s.run.Coverage = invariant.Coverage(invariant.Open(stored(t, "good-reverse-order")["good-reverse-order"]))
	s.folder.Page = report.Page{Matrix: &m, Extras: []report.Extra{table}}
	s.run.Skipped = []report.NotApplicable{{Slug: "clock-jump", Group: "database", Needs: 4}}
	s.run.End(s.folder.Recorder)
	if err := s.folder.Write(&s.run); err != nil {
		t.Fatal(err)
	}
	put("full.html", read(t, s.folder.Dir, report.HTMLFile))
	put("before.json", earlier(t, read(t, s.folder.Dir, report.ReportFile)))
	sheet, err := report.Sheet{Title: "mutants", Verdict: invariant.Violation, Sentence: "1 of 3 mutants were caught.", Command: []string{"mutants"}, Matrix: &m, Extras: []report.Extra{table}}.HTML(dir)
	if err != nil {
		t.Fatal(err)
	}
	put("sheet.html", string(sheet))
	for i, text := range markup()[:8] {
		s := newRun(t, filepath.Join(dir, "hostile", string(rune('a'+i))), map[string][]history.Event{"reverse-order": poison(stored(t, "bad-last-write-wins")["bad-last-write-wins"], text)}, nil, nil)
		s.run.Target, s.run.Plays[0].Trouble, s.run.Plays[0].Title = text, text, text
		if err := s.folder.Write(&s.run); err != nil {
			t.Fatal(err)
		}
		name := "hostile-" + string(rune('a'+i)) + ".html"
		put(name, read(t, s.folder.Dir, report.HTMLFile))
		names = append(names, name)
	}
	return names
}

// earlier is report.json of a run in which reverse-order passed, and in which
// there was another scenario instead of double-click.
func earlier(t *testing.T, text string) string {
	t.Helper()
	var all struct {
		Format    string           `json:"format"`
		Scenarios []map[string]any `json:"scenarios"`
		Run       struct {
			Seed int64 `json:"seed"`
		} `json:"run"`
	}
	if err := json.Unmarshal([]byte(text), &all); err != nil {
		t.Fatal(err)
	}
	for _, s := range all.Scenarios {
		switch s["slug"] {
		case "reverse-order":
			s["verdict"] = "pass"
			delete(s, "violated")
		case "double-click":
			s["slug"] = "<b>gone</b>"
		}
	}
	raw, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}
