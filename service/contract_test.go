package service_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/interlock-harness/interlock/service/internal/httpapi"
	"github.com/interlock-harness/interlock/service/internal/job"
)

// proven is one row of a table whose last column names its proof.
type proven struct {
	line  string
	cells []string
	proof []string
}

// provenRows reads the tables of a document that have a column "proof". Each row
// must name at least one test or scenario, and each of them must exist.
func provenRows(t *testing.T, document string) (text string, rows []proven) {
	t.Helper()
	read, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	tests := testFiles(t)
	for line := range strings.Lines(string(read)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
		last := strings.TrimSpace(cells[len(cells)-1])
		if !strings.HasPrefix(line, "|") || strings.HasPrefix(line, "|---") || last == "proof" {
			continue
		}
		row := proven{line: strings.TrimSpace(line), cells: cells}
		for _, n := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(last, -1) {
			name := n[1]
			row.proof = append(row.proof, name)
			if strings.HasPrefix(name, "Test") || strings.HasPrefix(name, "Fuzz") {
				if tests[name] == nil {
					t.Errorf("%s: there is no test %s", document, name)
				}
			} else if _, err := os.Stat("../scenarios/" + strings.ReplaceAll(name, "-", "_") + ".go"); err != nil {
				t.Errorf("%s: there is no scenario %s", document, name)
			}
		}
		if len(row.proof) == 0 {
			t.Errorf("%s: no test is named in %s", document, line)
		}
		rows = append(rows, row)
	}
	return string(read), rows
}

// TestEveryRowOfTheContractHasItsTest reads docs/contract.md. Nothing that the
// service has may be missing there: no route, problem, constraint, state, metric.
func TestEveryRowOfTheContractHasItsTest(t *testing.T) {
	text, rows := provenRows(t, "../docs/contract.md")
	if len(rows) < 110 {
		t.Errorf("only %d rows were read", len(rows))
	}
	need := func(kind, name string) {
		if !strings.Contains(text, "`"+name+"`") {
			t.Errorf("%s %s is in no row of the contract", kind, name)
		}
	}
	for _, route := range httpapi.RouteNames() {
		need("route", route)
	}
	for _, problem := range httpapi.ProblemTypes() {
		need("problem", problem)
	}
	for _, state := range []job.State{job.StateStarting, job.StateRunning, job.StateUnknown, job.StateReleased, job.StateSucceeded, job.StateLost, job.StateFailed, job.StateCancelled} {
		need("state", string(state))
	}
	for _, source := range []struct{ kind, files, name string }{
		{"constraint", "internal/postgres/migrations/*.sql", `(?:CONSTRAINT|CREATE UNIQUE INDEX|CREATE TRIGGER) (\w+)`},
		{"metric", "internal/metrics/*.go", `"(interlock_\w+)"`},
	} {
		files, err := filepath.Glob(source.files)
		if err != nil || len(files) == 0 {
			t.Fatal(source.files, err)
		}
		found := 0
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			code, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range regexp.MustCompile(source.name).FindAllSubmatch(code, -1) {
				found++
				need(source.kind, string(m[1]))
			}
		}
		if found < 10 {
			t.Errorf("only %d names of a %s were found", found, source.kind)
		}
	}
}

// TestEveryFaultHasItsTest reads docs/public-faults.md.
func TestEveryFaultHasItsTest(t *testing.T) {
	_, rows := provenRows(t, "../docs/public-faults.md")
	if len(rows) != 47 {
		t.Errorf("%d faults, want 47", len(rows))
	}
}

// TestEveryBadRequestHasItsTest reads docs/bad-requests.md: all ids are there, in
// order, and the id stands in the file of each test that its row names.
func TestEveryBadRequestHasItsTest(t *testing.T) {
	_, rows := provenRows(t, "../docs/bad-requests.md")
	var want, got []string
	for _, section := range []struct {
		letter string
		rows   int
	}{{"A", 45}, {"B", 25}, {"C", 31}, {"D", 22}} {
		for i := range section.rows {
			want = append(want, fmt.Sprintf("%s%02d", section.letter, i+1))
		}
	}
	tests := testFiles(t)
	for _, row := range rows {
		id := strings.TrimSpace(row.cells[0])
		got = append(got, id)
		for _, name := range row.proof {
			if !mentions(string(tests[name]), id) {
				t.Errorf("the file of %s does not say that it is about %s", name, id)
			}
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("the rows are %v, want %v", got, want)
	}
}

// mentions says whether a text names an id, alone or in a range like C17 to C20.
func mentions(text, id string) bool {
	if strings.Contains(text, id) {
		return true
	}
	for _, r := range regexp.MustCompile(`([A-D]\d\d) to ([A-D]\d\d)`).FindAllStringSubmatch(text, -1) {
		if r[1] <= id && id <= r[2] && r[1][0] == id[0] {
			return true
		}
	}
	return false
}

func TestMentionsReadsRanges(t *testing.T) {
	for id, want := range map[string]bool{"C13": true, "C16": false, "C17": true, "C19": true, "C20": true, "C21": false, "D18": false} {
		if got := mentions("// C13, C17 to C20", id); got != want {
			t.Errorf("%s: %v", id, got)
		}
	}
}

// testFiles are the texts of the files of all tests of the project, by test.
func testFiles(t *testing.T) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	declared := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
	for _, root := range []string{".", "../providers", "../harness"} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			for _, m := range declared.FindAllStringSubmatch(string(text), -1) {
				files[m[1]] = text
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return files
}
