package bench

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func file(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestABudgetIsMetOrMissed(t *testing.T) {
	budgets, err := ReadBudget(file(t, "[new]\nat-least = 3000\n[overhead]\nat-most = 10\n[memory]\nat-most = 128.5\n"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		row    Row
		missed bool
		bound  bool
	}{
		{Row{Name: "new", Ours: 3000}, false, true}, {Row{Name: "new", Ours: 2999}, true, true},
		{Row{Name: "overhead", Ours: 10}, false, true}, {Row{Name: "overhead", Ours: 10.1}, true, true},
		{Row{Name: "lives", Ours: 1}, false, false},
	} {
		got := Against([]Row{c.row}, nil, budgets)[0]
		if got.Missed != c.missed || (got.Budget != nil) != c.bound || got.Compared != "" {
			t.Errorf("%+v became %+v", c.row, got)
		}
	}
}

func TestABudgetThatBoundsNothingIsRefused(t *testing.T) {
	for text, want := range map[string]string{
		"":                            "bounds nothing",
		"[nwe]\nat-least = 1":         `no measure "nwe"`,
		"[new]\nleast = 1":            `no bound "new.least"`,
		"[new]\n":                     "needs at-least or at-most",
		"[new]\nat-least = -1":        "needs at-least or at-most",
		"[new]\nat-least = \"many\"":  "incompatible types",
		"{":                           "line 1",
		"[new]\nat-most = 1\n[new]\n": "already",
	} {
		if _, err := ReadBudget(file(t, text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	if _, err := ReadBudget("nowhere.toml"); err == nil || err.Error() != "nowhere.toml cannot be read" {
		t.Error(err)
	}
}

func TestABaselineSaysWhatBecameWorse(t *testing.T) {
	before, err := ReadBaseline(file(t, `{"measure":"new jobs","ours":3000,"ratio":0.8,"spread":0.05,"unit":"/s","bound":0.6,"holds":true}
{"measure":"claim to stored","ours":4,"ratio":4,"unit":"ms","bound":10,"most":true,"holds":true}
`))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		row  Row
		want string
	}{
		"as it was":           {Row{Measure: "new jobs", Ratio: 0.8}, Same},
		"better":              {Row{Measure: "new jobs", Ratio: 1.6}, Same},
		"a little worse":      {Row{Measure: "new jobs", Ratio: 0.65}, Same},
		"worse":               {Row{Measure: "new jobs", Ratio: 0.63}, Worse},
		"worse, far apart":    {Row{Measure: "new jobs", Ratio: 0.3, Spread: 0.21}, Unclear},
		"slower":              {Row{Measure: "claim to stored", Ratio: 4.9, Most: true}, Worse},
		"a little slower":     {Row{Measure: "claim to stored", Ratio: 4.7, Most: true}, Same},
		"faster":              {Row{Measure: "claim to stored", Ratio: 1, Most: true}, Same},
		"not in the baseline": {Row{Measure: "whole lives", Ratio: 0.1}, ""},
	} {
		if got := Against([]Row{c.row}, before, nil)[0]; got.Compared != c.want || (got.Before == nil) != (c.want == "") {
			t.Errorf("%s: %q, before %v; want %q", name, got.Compared, got.Before, c.want)
		}
	}
	for text, want := range map[string]string{"": "holds no row", "{}": ":1 is no row", "x": ":1 is no row", "{\"measure\":\"new jobs\"}\n[]": ":2 is no row"} {
		if _, err := ReadBaseline(file(t, text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func TestTheSpreadOfTurnsIsKnown(t *testing.T) {
	figures := []float64{9, 10, 12}
	i := 0
	c, err := byTurns(func() (float64, error) { i++; return figures[i-1], nil }, func() (float64, error) { return 10, nil })
	if err != nil || c.ratio != 1 || c.spread < 0.299 || c.spread > 0.301 {
		t.Errorf("%+v, %v", c, err)
	}
}
