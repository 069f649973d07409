package jinja_test

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/interlock-harness/interlock/providers/prompt/fetch"
	"github.com/interlock-harness/interlock/providers/prompt/jinja"
)

// goldenDay is the day on which the goldens were made: some templates print it.
var goldenDay = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

func at(now time.Time) jinja.Options { return jinja.Options{Now: func() time.Time { return now }} }

// render is what a caller sees: the text, or the refusal as "Class: message".
func render(source string, vars *jinja.Dict) string {
	t, err := jinja.Parse(source)
	if err == nil {
		var text string
		if text, err = t.Render(vars, at(goldenDay)); err == nil {
			return text
		}
	}
	return "refused: " + err.Error()
}

// variables decodes a JSON object.
func variables(t testing.TB, data []byte) *jinja.Dict {
	t.Helper()
	v, err := jinja.DecodeJSON(data)
	if err != nil {
		t.Fatalf("%v in %s", err, data)
	}
	return v.(*jinja.Dict)
}

type golden struct {
	Source, Name string
	Renders      map[string]struct {
		OK  *string
		Err string
	}
}

func readGoldens(t testing.TB) (scenarios map[string]json.RawMessage, goldens []golden) {
	t.Helper()
	data, err := os.ReadFile("../testdata/scenarios.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &scenarios); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open("../testdata/renders.json.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.NewDecoder(z).Decode(&goldens); err != nil {
		t.Fatal(err)
	}
	return scenarios, goldens
}

// fetchedTemplates returns the vendors' templates, or skips.
func fetchedTemplates(t testing.TB) []fetch.Template {
	t.Helper()
	all, err := fetch.Templates()
	if errors.Is(err, fetch.ErrAbsent) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// withTokens adds the vocabulary's own tokens to vars.
func withTokens(tmpl fetch.Template, vars *jinja.Dict) *jinja.Dict {
	bos, eos := tmpl.BOS, tmpl.EOS
	if tmpl.Source == "ollama-utils" { // which does not say what they are
		bos, eos = "<BOS>", "<EOS>"
	}
	all := jinja.NewDict()
	all.Set("bos_token", bos)
	all.Set("eos_token", eos)
	for i := range vars.Len() {
		k, v := vars.At(i)
		all.Set(k, v)
	}
	return all
}

func TestEveryGoldenRenderIsExact(t *testing.T) {
	templates := fetchedTemplates(t)
	scenarios, goldens := readGoldens(t)
	next := map[string]int{} // names of ollama-utils repeat: the n-th is the n-th
	for _, g := range goldens {
		tmpl, ok := find(templates, g.Source, g.Name, next[g.Source+g.Name])
		next[g.Source+g.Name]++
		if !ok {
			t.Fatalf("no template %s of %s", g.Name, g.Source)
		}
		compiled, err := jinja.Parse(tmpl.Text)
		if err != nil {
			t.Errorf("%s: %v", g.Name, err)
			continue
		}
		for name, want := range g.Renders {
			got, err := compiled.Render(withTokens(tmpl, variables(t, scenarios[name])), at(goldenDay))
			switch {
			case want.OK != nil && err != nil:
				t.Errorf("%s, %s: refused with %v", g.Name, name, err)
			case want.OK != nil && got != *want.OK:
				t.Errorf("%s, %s:\n got %q\nwant %q", g.Name, name, got, *want.OK)
			case want.OK == nil && err == nil:
				t.Errorf("%s, %s: rendered %q, want %s", g.Name, name, got, want.Err)
			case want.OK == nil && err.Error() != want.Err:
				t.Errorf("%s, %s: refused with %q, want %q", g.Name, name, err, want.Err)
			}
		}
	}
}

func find(all []fetch.Template, source, name string, nth int) (fetch.Template, bool) {
	for _, tmpl := range all {
		if tmpl.Source == source && tmpl.Name == name || tmpl.Source == source && strings.TrimPrefix(tmpl.Name, "@lenml/") == name {
			if nth == 0 {
				return tmpl, true
			}
			nth--
		}
	}
	return fetch.Template{}, false
}
