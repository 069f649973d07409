package main_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/interlock-harness/interlock/harness/mutant"
	"github.com/interlock-harness/interlock/providers/check"
	"github.com/interlock-harness/interlock/scenarios"
)

// TestTheFiguresOfTheReadmeAreCounted compares the figures of the track record with
// what there is.
func TestTheFiguresOfTheReadmeAreCounted(t *testing.T) {
	raw, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(string(raw)), " ")
	files := func(pattern string) int {
		list, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		list = slices.DeleteFunc(list, func(name string) bool {
			return filepath.Base(name) == "lock.json" || filepath.Base(name) == "_contract.json"
		})
		return len(list)
	}
	for what, n := range map[string]int{
		"**%d scenarios**":        len(scenarios.All()),
		"**%d mutants**":          len(mutant.All()),
		"**%d histories**":        files("harness/invariant/testdata/histories/*.jsonl"),
		"%d of them broken":       files("harness/invariant/testdata/histories/bad-*.jsonl"),
		"**%d recorded answers**": files("providers/fixtures/exchanges/*.json"),
		"**%d checks**":           len(check.All()),
		"**%d bad providers**":    files("providers/fixtures/bad/*.yaml"),
	} {
		if n == 0 {
			t.Errorf("nothing is counted for %q", what)
		}
		if want := fmt.Sprintf(what, n); !strings.Contains(text, want) {
			t.Errorf("the README does not say %q", want)
		}
	}
}
