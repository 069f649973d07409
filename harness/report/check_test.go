package report_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/interlock-harness/interlock/harness/history"
	"github.com/interlock-harness/interlock/harness/invariant"
	"github.com/interlock-harness/interlock/harness/report"
)

func written(t *testing.T) string {
	t.Helper()
	s := mixed(t, filepath.Join(t.TempDir(), "out"))
	if err := s.folder.Write(&s.run); err != nil {
		t.Fatal(err)
	}
	return s.folder.Dir
}

func TestCheckAgreesWithAnUntouchedFolder(t *testing.T) {
	c, err := report.Check(written(t))
	if err != nil || c.Verdict != invariant.Pass || c.Plays != 6 || len(c.Problems) != 0 {
		t.Errorf("%+v, %v", c.Problems, err)
	}
}

// tamper changes report.json by its decoded form.
func tamper(t *testing.T, dir string, change func(map[string]any)) {
	t.Helper()
	var doc map[string]any
	if err := json.Unmarshal([]byte(read(t, dir, report.ReportFile)), &doc); err != nil {
		t.Fatal(err)
	}
	change(doc)
	raw, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, report.ReportFile), raw, 0o644); err != nil {
		t.Fatal(err)
	}
}

// redigest writes events as the history of dir and makes the digest right.
func redigest(t *testing.T, dir string, events []history.Event) {
	t.Helper()
	var file bytes.Buffer
	for i := range events {
		events[i].N = int64(i + 1)
	}
	if err := history.Write(&file, events); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, report.HistoryFile), file.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(file.Bytes())
	tamper(t, dir, func(doc map[string]any) {
		doc["history"] = map[string]any{"sha256": hex.EncodeToString(sum[:]), "bytes": file.Len()}
	})
}

func events(t *testing.T, dir string) []history.Event {
	t.Helper()
	all, err := history.ReadFile(filepath.Join(dir, report.HistoryFile))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func plays(doc map[string]any) []any { return doc["run"].(map[string]any)["plays"].([]any) }

func TestCheckFindsWhatWasTamperedWith(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(t *testing.T, dir string)
		want   string
	}{
		{"a verdict", func(t *testing.T, dir string) {
			tamper(t, dir, func(doc map[string]any) { doc["verdict"], doc["exit_code"] = "pass", 0 })
		}, "the run is violation by its plays"},
		{"the verdict of a play and all that follows from it", func(t *testing.T, dir string) {
			tamper(t, dir, func(doc map[string]any) {
				for _, p := range plays(doc) {
					play := p.(map[string]any)
					if play["slug"] == "reverse-order" {
						play["verdict"] = "pass"
						play["result"].(map[string]any)["verdict"] = "pass"
					}
				}
				doc["verdict"], doc["exit_code"] = "inconclusive", 2
			})
		}, "play reverse-order is violation by its history"},
		{"the verdict beside the result", func(t *testing.T, dir string) {
			tamper(t, dir, func(doc map[string]any) {
				for _, p := range plays(doc) {
					if play := p.(map[string]any); play["slug"] == "reverse-order" {
						play["verdict"] = "pass"
					}
				}
			})
		}, "play reverse-order is called pass"},
		{"a finding", func(t *testing.T, dir string) {
			tamper(t, dir, func(doc map[string]any) {
				for _, p := range plays(doc) {
					if play := p.(map[string]any); play["slug"] == "reverse-order" {
						findings := play["result"].(map[string]any)["findings"].([]any)
						play["result"].(map[string]any)["findings"] = findings[:1]
					}
				}
			})
		}, "the findings of play reverse-order are others"},
		{"a play that is left out", func(t *testing.T, dir string) {
			tamper(t, dir, func(doc map[string]any) {
				run := doc["run"].(map[string]any)
				run["plays"] = run["plays"].([]any)[1:]
			})
		}, "is in the history and not in the report"},
		{"a play shown twice", func(t *testing.T, dir string) {
			tamper(t, dir, func(doc map[string]any) {
				run := doc["run"].(map[string]any)
				run["plays"] = append(run["plays"].([]any), run["plays"].([]any)[0])
			})
		}, "is in the report twice"},
		{"the counts", func(t *testing.T, dir string) {
			tamper(t, dir, func(doc map[string]any) { doc["counts"].(map[string]any)["violation"] = 0 })
		}, "the counts are"},
		{"the table", func(t *testing.T, dir string) {
			tamper(t, dir, func(doc map[string]any) { doc["scenarios"] = doc["scenarios"].([]any)[1:] })
		}, "the table of scenarios"},
		{"one byte of the history", func(t *testing.T, dir string) {
			text := strings.Replace(read(t, dir, report.HistoryFile), `"kind":"fired"`, `"kind":"armed"`, 1)
			if err := os.WriteFile(filepath.Join(dir, report.HistoryFile), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}, "the history is not the one that was judged"},
		{"the violating events, digest made right", func(t *testing.T, dir string) {
			var kept []history.Event
			for _, e := range events(t, dir) {
				if e.Scenario != "reverse-order" || e.Kind != history.Row {
					kept = append(kept, e)
				}
			}
			redigest(t, dir, kept)
		}, "the findings of play reverse-order are others"},
		{"the history of another passing run, digest right", func(t *testing.T, dir string) {
			other := written(t)
			all := events(t, other)
			all[0].Data = json.RawMessage(`{"run":"run-2","seed":7,"level":"L4","target":"http://elsewhere"}`)
			redigest(t, dir, all)
		}, `the history belongs to run "run-2" of target "http://elsewhere"`},
		{"a history without its first line", func(t *testing.T, dir string) { redigest(t, dir, events(t, dir)[1:]) }, "the history belongs to run \"\""},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := written(t)
			c.change(t, dir)
			got, err := report.Check(dir)
			if err != nil {
				t.Fatal(err)
			}
			if got.Verdict != invariant.Violation || !strings.Contains(strings.Join(got.Problems, "\n"), c.want) {
				t.Errorf("%s %q, want a violation with %q", got.Verdict, got.Problems, c.want)
			}
		})
	}
}

func TestCheckNamesTheFileThatCannotBeRead(t *testing.T) {
	for name, change := range map[string]func(dir string) error{
		"read report: stat": func(dir string) error { return os.Remove(filepath.Join(dir, report.ReportFile)) },
		"in format \"other\"": func(dir string) error {
			return os.WriteFile(filepath.Join(dir, report.ReportFile), []byte(`{"format":"other"}`), 0o644)
		},
		"unknown field": func(dir string) error {
			return os.WriteFile(filepath.Join(dir, report.ReportFile), []byte(`{"extra":1}`), 0o644)
		},
		"read history: open": func(dir string) error { return os.Remove(filepath.Join(dir, report.HistoryFile)) },
		"history.jsonl: line 1: ": func(dir string) error {
			return os.WriteFile(filepath.Join(dir, report.HistoryFile), []byte("x\n"), 0o644)
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := written(t)
			if err := change(dir); err != nil {
				t.Fatal(err)
			}
			if _, err := report.Check(dir); err == nil || !strings.Contains(err.Error(), name) {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestCheckOfARunOfNothingIsInconclusive(t *testing.T) {
	f, err := report.NewFolder(t.TempDir(), 7, report.Run{}.Started)
	if err != nil {
		t.Fatal(err)
	}
	r := &report.Run{ID: "r"}
	r.Begin(f.Recorder)
	if err := f.Write(r); err != nil {
		t.Fatal(err)
	}
	c, err := report.Check(f.Dir)
	if err != nil || c.Verdict != invariant.Inconclusive {
		t.Errorf("%s %v %v", c.Verdict, c.Problems, err)
	}
}
