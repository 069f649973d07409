package jinja_test

import (
	"encoding/json"
	"os"
	"testing"
)

// snippet is a template with what the oracle says about it.
type snippet struct {
	Template string
	With     string // the set of variables
	Now      string
	answer
}

func readSnippets(t testing.TB) (sets map[string]json.RawMessage, snippets []snippet) {
	t.Helper()
	data, err := os.ReadFile("../testdata/snippets.json")
	if err != nil {
		t.Fatal(err)
	}
	var table struct {
		Variables map[string]json.RawMessage
		Snippets  []snippet
	}
	if err := json.Unmarshal(data, &table); err != nil {
		t.Fatal(err)
	}
	return table.Variables, table.Snippets
}

func TestEverySnippetIsAsTheOracleSays(t *testing.T) {
	sets, snippets := readSnippets(t)
	if len(snippets) < 1000 {
		t.Fatalf("only %d snippets were read", len(snippets))
	}
	refusals := 0
	for _, s := range snippets {
		got := ours(t, request{Template: s.Template, Vars: sets[s.With], Now: s.Now})
		switch {
		case ownRefusal(got):
			if refusals++; refusals > 12 {
				t.Errorf("%s: refused with %s, and too many others", s.Template, got)
			}
		case !same(got, s.answer):
			t.Errorf("%s\n got %s\nwant %s", s.Template, got, s.answer)
		case got.Line != s.Line:
			t.Errorf("%s: %s in line %d, want %d", s.Template, got, got.Line, s.Line)
		}
	}
}
