package report_test

import (
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/interlock-harness/interlock/harness/history"
	"github.com/interlock-harness/interlock/harness/invariant"
	"github.com/interlock-harness/interlock/harness/mutant"
	"github.com/interlock-harness/interlock/harness/report"
)

// pages keeps the pages of the tests for a look in a browser.
var pages = flag.String("pages", "", "folder to leave the pages of the tests in")

func leave(t *testing.T, name string, page string) {
	t.Helper()
	if *pages == "" {
		return
	}
	if err := os.WriteFile(filepath.Join(*pages, name), []byte(page), 0o644); err != nil {
		t.Fatal(err)
	}
}

// pageData is the data block as an independent reader takes it.
type pageData struct {
	Texts []string
	Plays []struct {
		Name, Slug, Verdict string
		Lanes               []int
		LeftOut             int
		Lane, Row, Look     []int
		What, Outcome       []int
		N                   []int64
		From, Took          []int64
		Marks               []struct {
			N        int64
			Sentence int
		}
	}
}

func unpack(t *testing.T, page string) pageData {
	t.Helper()
	found := regexp.MustCompile(`<pre id="data" hidden>([A-Za-z0-9+/=]*)</pre>`).FindStringSubmatch(page)
	if found == nil {
		t.Fatal("the page has no data block")
	}
	raw, err := base64.StdEncoding.DecodeString(found[1])
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(flate.NewReader(bytes.NewReader(raw)))
	if err != nil {
		t.Fatal(err)
	}
	var d pageData
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	return d
}

func TestPageLoadsNothingAndRunsOnlyItsOwnScript(t *testing.T) {
	s := mixed(t, filepath.Join(t.TempDir(), "out"))
	if err := s.folder.Write(&s.run); err != nil {
		t.Fatal(err)
	}
	page := read(t, s.folder.Dir, report.HTMLFile)
	leave(t, "mixed.html", page)
	policy := regexp.MustCompile(`http-equiv="Content-Security-Policy" content="([^"]*)"`).FindStringSubmatch(page)
	if policy == nil {
		t.Fatal("no policy")
	}
	allowed := strings.ReplaceAll(strings.ReplaceAll(policy[1], "&#39;", "'"), "&#43;", "+")
	if !strings.HasPrefix(allowed, "default-src 'none';") || strings.Contains(allowed, "unsafe") || strings.Contains(allowed, "http") {
		t.Errorf("policy %s", allowed)
	}
	for _, tag := range []string{"script", "style"} {
		blocks := regexp.MustCompile(`(?s)<`+tag+`>(.*?)</`+tag+`>`).FindAllStringSubmatch(page, -1)
		if len(blocks) != 1 || strings.Count(page, "<"+tag) != 1 {
			t.Fatalf("%d %s blocks", len(blocks), tag)
		}
		sum := sha256.Sum256([]byte(blocks[0][1]))
		if want := tag + "-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"; !strings.Contains(allowed, want) {
			t.Errorf("the policy does not allow the %s of the page: %s is not in %s", tag, want, allowed)
		}
	}
	for _, banned := range []string{" src=", " style=", " onclick=", " onload=", "<link", "<iframe", "javascript:", "@import", "url("} {
		if strings.Contains(page, banned) {
			t.Errorf("the page holds %q", banned)
		}
	}
}

func TestPageSaysWhatTheFilesSay(t *testing.T) {
	s := mixed(t, filepath.Join(t.TempDir(), "out"))
	s.run.Coverage = invariant.Coverage(invariant.Open(stored(t, "good-reverse-order")["good-reverse-order"]))
	first, _ := mutant.Find("cancel-bumps-no-version")
	m := mutant.NewMatrix(7, append(mutant.All()[:2], first), []mutant.Played{{Scenario: "cancel-vs-complete", Verdict: "pass"}, {Mutant: first.Name, Scenario: "cancel-vs-complete", Verdict: "violation", Violated: []string{"I15"}}})
	s.folder.Page = report.Page{Matrix: &m, Extras: []report.Extra{{ID: "gate", Title: "Gate", Columns: []string{"from", "to"}, Rows: [][]report.Cell{{{Text: "p"}, {Text: "no", Verdict: invariant.Violation, Title: "expired"}}}}}}
	if err := s.folder.Write(&s.run); err != nil {
		t.Fatal(err)
	}
	page := read(t, s.folder.Dir, report.HTMLFile)
	leave(t, "full.html", page)
	for _, want := range []string{
		`<b>4</b> <span><span aria-hidden="true">✓</span> pass`, `<b>1</b> <span><span aria-hidden="true">✗</span> violation`, `<b>1</b> <span><span aria-hidden="true">?</span> inconclusive`,
		"The stored winner of job j1 changed from a2 to a1.", "interlock verify reverse-order --seed 7", "interlock explain I5", "1 of 3 mutants were caught", `href="#gate"`, "legal moves made", s.run.ID,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	all, err := history.ReadFile(filepath.Join(s.folder.Dir, report.HistoryFile))
	if err != nil {
		t.Fatal(err)
	}
	known := map[int64]history.Event{}
	for _, e := range all {
		known[e.N] = e
	}
	data := unpack(t, page)
	if len(data.Plays) != len(s.run.Plays) {
		t.Fatalf("%d plays in the page, %d in the run", len(data.Plays), len(s.run.Plays))
	}
	for _, p := range data.Plays {
		first := int64(-1)
		for _, e := range all {
			if e.Scenario == p.Name && first < 0 {
				first = e.AtUS
			}
		}
		at, invoked := int64(0), map[int64]bool{}
		for i := range p.N {
			at += p.From[i]
			e := known[p.N[i]]
			if e.Scenario != p.Name || e.AtUS-first != at {
				t.Errorf("%s: item %d is event %d at %d us, and the history says %s at %d us", p.Name, i, p.N[i], at, e.Scenario, e.AtUS-first)
			}
			if e.Kind == history.Invoke {
				invoked[e.Call] = true
			}
			if p.Lane[i] >= len(p.Lanes) || p.Took[i] < 0 || p.Row[i] > 7 {
				t.Errorf("%s: item %d is drawn nowhere", p.Name, i)
			}
		}
		want := len(history.Operations(history.Of(all, p.Name)))
		if len(invoked) != want && p.LeftOut == 0 {
			t.Errorf("%s: %d operations are drawn, %d were recorded", p.Name, len(invoked), want)
		}
		if p.Slug == "reverse-order" && (p.Verdict != "violation" || len(p.Marks) == 0 || !strings.Contains(data.Texts[p.Marks[0].Sentence], "changed from a2 to a1")) {
			t.Errorf("reverse-order is %s with marks %v", p.Verdict, p.Marks)
		}
	}
}

func TestHostileTextIsTextInThePage(t *testing.T) {
	bad := stored(t, "bad-last-write-wins")["bad-last-write-wins"]
	for i, text := range few() {
		s := newRun(t, filepath.Join(t.TempDir(), "out"), map[string][]history.Event{"reverse-order": poison(bad, text)}, nil, nil)
		s.run.Target, s.run.Stage, s.run.ID, s.run.Versions = text, text, text, map[string]string{text: text}
		s.run.Plays[0].Trouble, s.run.Plays[0].Fault, s.run.Plays[0].Title = text, text, text
		s.run.Plays[0].Result.Findings[0].Found = text
		if err := s.folder.Write(&s.run); err != nil {
			t.Fatalf("text %d: %v", i, err)
		}
		page := read(t, s.folder.Dir, report.HTMLFile)
		leave(t, fmt.Sprintf("hostile-%02d.html", i), page)
		if strings.Count(page, "<script") != 1 || strings.Count(page, "<img") != 0 || strings.Contains(page, "<!--") || strings.Contains(page, `href="javascript`) {
			t.Errorf("text %d got into the markup", i)
		}
		unpack(t, page)
	}
}

// standard is a run as large as the whole catalogue: 65 scenarios, 10,000
// operations, one of them violated.
func standard(t *testing.T, dir string, scenarios, operations int) sampleRun {
	good := stored(t, "good-wander-*")
	plays := map[string][]history.Event{}
	names := sortedKeys(good)
	for i := range scenarios {
		events := append([]history.Event(nil), good[names[i%len(names)]]...)
		if i == 0 {
			events = append([]history.Event(nil), stored(t, "bad-last-write-wins")["bad-last-write-wins"]...)
		}
		var first history.Event // a read to repeat
		var end history.Event
		for _, e := range events {
			if e.Kind == history.OK && e.Op == history.OpGet {
				end = e
			}
		}
		for _, e := range events {
			if e.Kind == history.Invoke && e.Call == end.Call {
				first = e
			}
		}
		for n := len(history.Operations(events)); n < operations/scenarios; n++ {
			first.Call, end.Call = int64(100_000+n), int64(100_000+n)
			events = append(events, first, end)
		}
		plays[fmt.Sprintf("scenario-%02d", i)] = events
	}
	return newRun(t, dir, plays, nil, nil)
}

func TestStandardRunStaysBelowOneMegabyte(t *testing.T) {
	s := standard(t, filepath.Join(t.TempDir(), "out"), 65, 10_000)
	operations := 0
	for _, p := range s.run.Plays {
		operations += p.Result.Operations
	}
	if operations < 9_000 {
		t.Fatalf("%d operations", operations)
	}
	if err := s.folder.Write(&s.run); err != nil {
		t.Fatal(err)
	}
	page := read(t, s.folder.Dir, report.HTMLFile)
	leave(t, "standard.html", page)
	if len(page) > 1_000_000 {
		t.Errorf("report.html has %d bytes", len(page))
	}
	if s.folder.Warning != "" {
		t.Error(s.folder.Warning)
	}
	if n := len(read(t, s.folder.Dir, report.JUnitFile)); n > 1_000_000 {
		t.Errorf("junit.xml has %d bytes", n)
	}
	for _, p := range unpack(t, page).Plays {
		if p.Verdict == "pass" && len(p.N) > 2*200+50 {
			t.Errorf("%s keeps %d items", p.Name, len(p.N))
		}
	}
}

func TestLargeViolationIsKeptWhole(t *testing.T) {
	s := standard(t, filepath.Join(t.TempDir(), "out"), 1, 10_000)
	if err := s.folder.Write(&s.run); err != nil {
		t.Fatal(err)
	}
	page := read(t, s.folder.Dir, report.HTMLFile)
	leave(t, "ten-thousand.html", page)
	if d := unpack(t, page); d.Plays[0].LeftOut != 0 || len(d.Plays[0].N) < 10_000 {
		t.Errorf("%d items, %d left out", len(d.Plays[0].N), d.Plays[0].LeftOut)
	}
	if *pages != "" {
		s := standard(t, filepath.Join(t.TempDir(), "out"), 1, 100_000)
		if err := s.folder.Write(&s.run); err != nil {
			t.Fatal(err)
		}
		leave(t, "hundred-thousand.html", read(t, s.folder.Dir, report.HTMLFile))
	}
}
