package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/interlock-harness/interlock/harness/history"
	"github.com/interlock-harness/interlock/harness/invariant"
	"github.com/interlock-harness/interlock/harness/mutant"
	"github.com/interlock-harness/interlock/harness/report"
)

// runFolder is the folder of a run of one scenario, judged from a stored history.
func runFolder(t *testing.T, dir, slug, stored string) {
	t.Helper()
	events, err := history.ReadFile(filepath.Join(tree(t), "harness", "invariant", "testdata", "histories", stored+".jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	folder, err := report.NewFolder(dir, 7, time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC))
	if err != nil {
		t.Fatal(err)
	}
	r := report.Run{ID: "run-1", Seed: 7, Level: 4, Target: "built-in service", Started: time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)}
	r.Begin(folder.Recorder)
	rec := folder.Recorder.Child(slug)
	for _, e := range events {
		data := e.Data
		e.N, e.AtUS, e.Scenario, e.Data = 0, 0, "", nil
		rec.Record(e, data)
	}
	result := invariant.Judge(rec.Events(), 4, invariant.Expect{})
	r.Plays = []report.Play{{Slug: slug, Group: "completion", History: slug, Verdict: result.Verdict, Result: result, Took: report.Span(rec.Events())}}
	r.End(folder.Recorder)
	if err := folder.Write(&r); err != nil {
		t.Fatal(err)
	}
}

// tree is the root of the repository, wherever the test stands.
var start, _ = os.Getwd()

func tree(t *testing.T) string {
	t.Helper()
	return filepath.Dir(start)
}

func TestReportComparesTwoRuns(t *testing.T) {
	t.Chdir(t.TempDir())
	runFolder(t, "good", "reverse-order", "good-first-returns-first")
	runFolder(t, "bad", "reverse-order", "bad-last-write-wins")
	code, out, talk := run(t, "report", "bad", "--compare", "good")
	if code != 1 || !strings.Contains(out, "reverse-order") || !strings.Contains(out, "pass -> violation I4 I5") || !strings.Contains(out, "1 scenario worse") {
		t.Errorf("worse: %d\n%s%s", code, out, talk)
	}
	if code, out, _ := run(t, "report", "good", "--compare", "bad"); code != 0 || !strings.Contains(out, "-> pass") {
		t.Errorf("better: %d\n%s", code, out)
	}
	if code, out, _ := run(t, "report", "bad", "--compare", "good", "--json"); code != 1 || !strings.Contains(out, `"worse":true`) || strings.Count(out, "\n") != 2 {
		t.Errorf("JSON: %d\n%s", code, out)
	}
}

func TestReportGathersOtherEvidence(t *testing.T) {
	t.Chdir(t.TempDir())
	runFolder(t, "run", "reverse-order", "bad-last-write-wins")
	first := mutant.All()[0]
	m := mutant.NewMatrix(7, []mutant.Mutant{first}, []mutant.Played{{Scenario: first.Scenario, Verdict: "pass"}, {Mutant: first.Name, Scenario: first.Scenario, Verdict: "violation", Violated: []string{first.Invariant}}})
	if err := os.Mkdir("mutants", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := report.WriteJSON("mutants", report.MatrixFile, m); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("bench.json", []byte(`{"measure":"new","ours":1200,"theirs":2000,"against":"pgbench","unit":"/s","ratio":0.6,"bound":0.5,"holds":true}`+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if code, _, talk := run(t, "certify", "openai-demo", "--contract", "refund", "--no-job-service", "--out", "certified"); code > 2 {
		t.Fatalf("certify: %d %s", code, talk)
	}
	for _, page := range []string{"certified/report.html"} {
		if text := string(mustRead(t, page)); !strings.Contains(text, "Provider by check") || !strings.Contains(text, `<th scope="row">S01</th>`) {
			t.Errorf("%s does not show the checks", page)
		}
	}
	code, _, talk := run(t, "report", "run", "--html", "all.html", "--with", "mutants,certified,bench.json", "--certs", "none")
	if code != 0 {
		t.Fatalf("%d %s", code, talk)
	}
	text := string(mustRead(t, "all.html"))
	for _, want := range []string{"1 of 1 mutants were caught", "Provider by check", "1200 /s", "≥ 0.50", "Gate for invoice@1.0.0", "no certificate", "reverse-order"} {
		if !strings.Contains(text, want) {
			t.Errorf("all.html does not say %q", want)
		}
	}
	if code, _, talk := run(t, "gate", "--matrix", "--certs", "none", "--html", "gate.html"); code != 0 || !strings.Contains(string(mustRead(t, "gate.html")), "0 of 18 open") {
		t.Errorf("gate: %d %s", code, talk)
	}
}

func TestReportRefusesWhatItCannotShow(t *testing.T) {
	t.Chdir(t.TempDir())
	runFolder(t, "run", "reverse-order", "good-first-returns-first")
	for name, text := range map[string]string{"text.txt": "hello\n", "empty.json": ""} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll("other", 0o755); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"--with", "other"}, 64, "go with --html"},
		{[]string{"--certs", "x"}, 64, "go with --html"},
		{[]string{"--html", "a.html", "--with", "nowhere"}, 64, "there is no such folder or file"},
		{[]string{"--html", "a.html", "--with", "other"}, 64, "neither the matrix of interlock mutants nor the report of interlock certify"},
		{[]string{"--html", "a.html", "--with", "run"}, 64, "is not of interlock certify"},
		{[]string{"--html", "a.html", "--with", "text.txt"}, 64, "line 1 is no measure"},
		{[]string{"--html", "a.html", "--with", "empty.json"}, 64, "holds no measure"},
		{[]string{"--compare", "other"}, 64, "--compare"},
		{[]string{"--compare", "run", "--check"}, 64, "by itself"},
		{[]string{"--html", "nowhere/a.html"}, 3, "nowhere"},
	} {
		code, _, talk := run(t, append([]string{"report", "run"}, row.args...)...)
		if code != row.code || !strings.Contains(talk, row.says) {
			t.Errorf("%q: %d %s", row.args, code, talk)
		}
		if _, err := os.Stat("a.html"); err == nil {
			t.Errorf("%q left a page", row.args)
		}
	}
	if code, _, talk := run(t, "gate", "--html", "x.html", "--from", "openai-demo", "--to", "anthropic-demo", "--contract", "invoice"); code != 64 || !strings.Contains(talk, "--matrix") {
		t.Errorf("gate: %d %s", code, talk)
	}
}
