package scenarios_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/interlock-harness/interlock/harness/invariant"
	"github.com/interlock-harness/interlock/scenarios"
)

func TestEachScenarioHasAFileOfItsName(t *testing.T) {
	for _, i := range scenarios.All() {
		file := strings.ReplaceAll(i.Slug, "-", "_") + ".go"
		if _, err := os.Stat(file); err != nil {
			t.Errorf("scenario %s has no file %s", i.Slug, file)
		}
	}
}

func TestEachScenarioNamesInvariantsThatExistAtItsLevel(t *testing.T) {
	for _, i := range scenarios.All() {
		if len(i.Expect.Invariants) == 0 {
			t.Errorf("%s exercises no invariant", i.Slug)
		}
		for _, id := range i.Expect.Invariants {
			known, ok := invariant.ByID(id)
			if !ok {
				t.Errorf("%s names invariant %s, which does not exist", i.Slug, id)
			}
			if ok && known.Level > i.Level {
				t.Errorf("%s runs at %s, but %s needs %s", i.Slug, i.Level, id, known.Level)
			}
		}
		if i.Title == "" || i.Fault == "" || i.Group == "" || i.Number == 0 {
			t.Errorf("%s lacks a title, a fault, a group or a number", i.Slug)
		}
	}
}

func TestNoScenarioTakesASleepForAnOrder(t *testing.T) {
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		text, err := os.ReadFile(e.Name())
		if err != nil {
			t.Fatal(err)
		}
		for _, banned := range []string{"time.Sleep(", "FlakeAttempts", "time.After("} {
			if strings.Contains(string(text), banned) {
				t.Errorf("%s: %s", e.Name(), banned)
			}
		}
	}
}

func TestNothingInTheHarnessSleeps(t *testing.T) {
	files := 0
	err := filepath.WalkDir("../harness", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		files++
		text, err := os.ReadFile(path)
		if strings.Contains(string(text), "time.Sleep(") {
			t.Errorf("%s sleeps: wait for what is to come, with a bound", path)
		}
		return err
	})
	if err != nil || files < 100 {
		t.Errorf("%d files read: %v", files, err)
	}
}

func TestALabelExpressionSelects(t *testing.T) {
	four, err := scenarios.Matching(scenarios.Selection{Labels: scenarios.Breakpoints})
	if err != nil {
		t.Fatal(err)
	}
	var slugs []string
	for _, i := range four {
		slugs = append(slugs, i.Slug)
	}
	want := "double-click double-click-two-replicas same-key-other-payload provider-stall-then-answer provider-stall-then-second-attempt reverse-order"
	if got := strings.Join(slugs, " "); got != want {
		t.Errorf("breakpoints are %q, want %q", got, want)
	}
	if _, err := scenarios.Matching(scenarios.Selection{Labels: "a &&"}); err == nil {
		t.Error("a broken label expression was taken")
	}
}
