package report_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/interlock-harness/interlock/harness/invariant"
	"github.com/interlock-harness/interlock/harness/mutant"
	"github.com/interlock-harness/interlock/harness/report"
)

func scenario(slug string, verdict invariant.Verdict, took time.Duration, violated ...invariant.ID) report.Scenario {
	return report.Scenario{Slug: slug, Verdict: verdict, Took: report.Milliseconds(took), Violated: violated, Operations: 4}
}

func TestTwoRunsAreCompared(t *testing.T) {
	ms := time.Millisecond
	before := report.Stored{Scenarios: []report.Scenario{
		scenario("double-click", invariant.Pass, 100*ms), scenario("reverse-order", invariant.Violation, 100*ms, "I5"), scenario("gone", invariant.Pass, 100*ms),
		scenario("slow", invariant.Pass, 400*ms), scenario("jitter", invariant.Pass, 20*ms), scenario("worse", invariant.Pass, 100*ms), scenario("deeper", invariant.Violation, 100*ms, "I5"),
	}}
	now := report.Stored{Scenarios: []report.Scenario{
		scenario("double-click", invariant.Pass, 110*ms), scenario("reverse-order", invariant.Pass, 100*ms), scenario("slow", invariant.Pass, 900*ms), scenario("jitter", invariant.Pass, 90*ms),
		scenario("worse", invariant.Inconclusive, 100*ms), scenario("deeper", invariant.Violation, 100*ms, "I5", "I1"), scenario("new", invariant.Pass, 100*ms),
	}}
	c := report.Compare(before, now)
	if worse, changed, same := c.Counts(); worse != 3 || changed != 2 || same != 3 {
		t.Errorf("%d worse, %d changed, %d the same", worse, changed, same)
	}
	text := c.Text(report.Style{})
	for _, want := range []string{"? worse ", "pass -> inconclusive", "✗ deeper ", "violation I5 -> violation I5 I1", "? gone ", "pass -> not played", "  reverse-order ", "violation I5 -> pass", "  new ", "not played -> pass", "400 ms -> 900 ms", "3 scenarios worse, 2 otherwise changed, 3 the same", "1 took notably"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	for _, not := range []string{"double-click", "jitter"} {
		if strings.Contains(text, not) {
			t.Errorf("%s did not change:\n%s", not, text)
		}
	}
	e := c.Extra()
	if len(e.Rows) != 8 || e.Rows[0][0].Text != "worse" || e.Rows[7][1].Verdict != invariant.Pass {
		t.Errorf("rows %v", e.Rows)
	}
}

func TestASheetShowsWhatIsNoRun(t *testing.T) {
	first, _ := mutant.Find("cancel-bumps-no-version")
	m := mutant.NewMatrix(7, append(mutant.All()[:1], first), []mutant.Played{
		{Scenario: "cancel-vs-complete", Verdict: "pass"}, {Scenario: "double-click", Verdict: "pass"},
		{Mutant: first.Name, Scenario: "cancel-vs-complete", Verdict: "violation", Violated: []string{"I15"}}, {Mutant: first.Name, Scenario: "double-click", Verdict: "pass"},
	}).Whole()
	sheet := report.Sheet{
		Title: "mutants", Verdict: invariant.Violation, Sentence: `1 of 2 <b>\u202e`, Command: []string{"mutants"}, Matrix: &m, Facts: []report.Fact{{Name: "seed", Value: "7"}},
		Extras: []report.Extra{{ID: "checks", Title: "Provider by check", Columns: []string{"check", "<i>"}, Rows: [][]report.Cell{{{Text: "S01"}, {Text: "\x1b[31m<script>", Verdict: invariant.Violation, Title: `"><img src=x>`}}}}, {ID: "more", Title: "Also", Follows: true}},
	}
	page, err := sheet.HTML(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	text := string(page)
	leave(t, "sheet.html", text)
	for _, want := range []string{`class="made" title="cancel-vs-complete: caught by I15">✓`, `class="illegal" title="double-click: survived">✗`, "catches nothing alone", `id="scenarios" hidden`, `<th scope="row">S01</th>`, `href="#checks"`, "interlock mutants"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	for _, not := range []string{"<script>\x1b", "\x1b", "<img", "<i>", `href="#more"`} {
		if strings.Contains(text, not) {
			t.Errorf("the page holds %q", not)
		}
	}
	unpack(t, text)
}

// TestTheScriptStaysSmall bounds what every page carries.
func TestTheScriptStaysSmall(t *testing.T) {
	s := mixed(t, filepath.Join(t.TempDir(), "out"))
	if err := s.folder.Write(&s.run); err != nil {
		t.Fatal(err)
	}
	page := read(t, s.folder.Dir, report.HTMLFile)
	script := page[strings.Index(page, "<script>"):strings.Index(page, "</script>")]
	if len(script) > 25_000 {
		t.Errorf("the script has %d bytes", len(script))
	}
	if strings.Contains(script, "\n// ") || strings.Contains(script, "\n  ") {
		t.Error("comments and indents of the script are in the page")
	}
}
