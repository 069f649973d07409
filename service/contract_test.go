package service_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestEveryRowOfTheContractHasItsTest reads docs/contract.md: each row names its
// proof, and each name is that of a test below service/ or of a scenario.
func TestEveryRowOfTheContractHasItsTest(t *testing.T) {
	text, err := os.ReadFile("../docs/contract.md")
	if err != nil {
		t.Fatal(err)
	}
	tests := testNames(t)
	rows := 0
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if !strings.HasPrefix(line, "|") || len(cells) < 3 || strings.HasPrefix(cells[0], "---") || strings.TrimSpace(cells[2]) == "proof" {
			continue
		}
		rows++
		names := regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(cells[len(cells)-1], -1)
		if len(names) == 0 {
			t.Errorf("no test is named in %s", line)
		}
		for _, n := range names {
			name := n[1]
			if strings.HasPrefix(name, "Test") || strings.HasPrefix(name, "Fuzz") {
				if !tests[name] {
					t.Errorf("there is no test %s below service/", name)
				}
			} else if _, err := os.Stat("../scenarios/" + strings.ReplaceAll(name, "-", "_") + ".go"); err != nil {
				t.Errorf("there is no scenario %s", name)
			}
		}
	}
	if rows < 50 {
		t.Errorf("only %d rows were read", rows)
	}
}

func testNames(t *testing.T) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	declared := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range declared.FindAllStringSubmatch(string(text), -1) {
			names[m[1]] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}
