package report_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/interlock-harness/interlock/harness/history"
	"github.com/interlock-harness/interlock/harness/invariant"
	"github.com/interlock-harness/interlock/harness/report"
)

// stored lists the histories that lie in the tree beside the invariants.
func stored(t testing.TB, pattern string) map[string][]history.Event {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "invariant", "testdata", "histories", pattern+".jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no stored history %s: %v", pattern, err)
	}
	all := map[string][]history.Event{}
	for _, file := range files {
		events, err := history.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all[strings.TrimSuffix(filepath.Base(file), ".jsonl")] = events
	}
	return all
}

// play judges events as the play of a scenario called slug.
func play(slug, group string, events []history.Event, expect invariant.Expect) report.Play {
	r := invariant.Judge(events, 4, expect)
	return report.Play{
		Slug: slug, Title: "a stored history", Group: group, Fault: "none", History: slug, Expect: expect,
		Verdict: r.Verdict, Result: r, Took: report.Span(events),
	}
}

// sampleRun is a run over stored histories, in dir where one is given.
type sampleRun struct {
	run    report.Run
	folder *report.Folder
}

// newRun records the plays into one history, as a real run does.
func newRun(t testing.TB, dir string, plays map[string][]history.Event, groups map[string]string, expects map[string]invariant.Expect) sampleRun {
	t.Helper()
	s := sampleRun{run: report.Run{
		ID: "run-1", Seed: 7, Level: 4, Target: "built-in service", Stage: "PostgreSQL 15.18, Toxiproxy embedded",
		Started: time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC), Took: report.Milliseconds(38 * time.Second),
		Versions: map[string]string{"interlock": "devel"}, Command: []string{"verify"},
	}}
	folder, err := report.NewFolder(dir, 7, s.run.Started)
	if err != nil {
		t.Fatal(err)
	}
	s.folder = folder
	s.run.Begin(folder.Recorder)
	for _, slug := range sortedKeys(plays) {
		rec := folder.Recorder.Child(slug)
		calls := map[int64]int64{}
		for _, e := range plays[slug] {
			data := e.Data
			if e.Call != 0 {
				if calls[e.Call] == 0 {
					calls[e.Call] = rec.NextCall()
				}
				e.Call = calls[e.Call]
			}
			e.N, e.AtUS, e.Scenario, e.Data = 0, 0, "", nil
			rec.Record(e, data)
		}
		group := groups[slug]
		if group == "" {
			group = "submit"
		}
		s.run.Plays = append(s.run.Plays, play(slug, group, rec.Events(), expects[slug]))
	}
	return s
}

func sortedKeys[V any](m map[string]V) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	for i := range keys {
		for k := i + 1; k < len(keys); k++ {
			if keys[k] < keys[i] {
				keys[i], keys[k] = keys[k], keys[i]
			}
		}
	}
	return keys
}

func read(t testing.TB, parts ...string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(parts...))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}
