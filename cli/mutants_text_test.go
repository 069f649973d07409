package cli_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/interlock-harness/interlock/harness/history"
	"github.com/interlock-harness/interlock/harness/invariant"
	"github.com/interlock-harness/interlock/harness/mutant"
	"github.com/interlock-harness/interlock/harness/report"
)

var (
	update = flag.Bool("update", false, "write the stored texts anew")
	played = flag.String("mutants", "", `"run" plays every mutant and repeats the command of its text; a folder of interlock mutants --out is read instead`)
)

// evidence is one play in which a mutant was caught: enough to judge it and to
// tell it again.
type evidence struct {
	Run    report.Run      `json:"run"`
	Events []history.Event `json:"events"`
}

func evidenceFile(name string) string {
	return filepath.Join("testdata", "mutants", name+".json.gz")
}

// readEvidence reads the stored play of a mutant and judges it anew.
func readEvidence(t *testing.T, name string) evidence {
	t.Helper()
	file, err := os.Open(evidenceFile(name))
	if err != nil {
		t.Fatalf("%v: go test ./cli -run Mutant -mutants run -update writes it", err)
	}
	defer func() { _ = file.Close() }()
	unpacked, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	var e evidence
	if err := json.NewDecoder(unpacked).Decode(&e); err != nil {
		t.Fatal(err)
	}
	p := &e.Run.Plays[0]
	p.Result = invariant.Judge(e.Events, e.Run.Level, p.Expect)
	p.Verdict = p.Result.Verdict
	return e
}

func (e evidence) write(t *testing.T, name string) {
	t.Helper()
	e.Run.Plays[0].Result = invariant.Result{} // judged anew by who reads it
	var b bytes.Buffer
	packed, _ := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err := json.NewEncoder(packed).Encode(e); err != nil {
		t.Fatal(err)
	}
	if err := packed.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(evidenceFile(name), b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

func (e evidence) text() string {
	return e.Run.Violation(e.Run.Plays[0], e.Events, report.Places{HTML: "interlock-out/latest/report.html"}, report.Style{})
}

// TestEveryMutantIsToldInTwentyFourLines compares the text of each mutant's
// violation with the one that lies in the tree. What it tells was played once
// and is judged anew here.
func TestEveryMutantIsToldInTwentyFourLines(t *testing.T) {
	all := mutant.All()
	if *played != "" {
		all = nil // TestEveryMutantIsToldAndRepeated writes them
	}
	for _, m := range all {
		t.Run(m.Name, func(t *testing.T) {
			text := readEvidence(t, m.Name).text()
			for _, problem := range lacking(m, text) {
				t.Error(problem)
			}
			golden := filepath.Join("testdata", "mutants", m.Name+".txt")
			if *update {
				write(t, golden, text)
			}
			if want := readText(t, golden); text != want {
				t.Errorf("the text is now\n%s\nand was\n%s", text, want)
			}
		})
	}
	files, err := filepath.Glob(filepath.Join("testdata", "mutants", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		name, _, _ := strings.Cut(filepath.Base(f), ".")
		if _, known := mutant.Find(name); !known {
			t.Errorf("%s belongs to no mutant", f)
		}
	}
}

// parts are what a text of a violation consists of, in this order.
var parts = []struct {
	name string
	line *regexp.Regexp
}{
	{"the headline", regexp.MustCompile(`^✗ [A-Za-z0-9-]+$`)},
	{"the sentence", regexp.MustCompile(`^  \S.{19}`)},
	{"the fault", regexp.MustCompile(`^  fault      \S`)},
	{"the invariant", regexp.MustCompile(`^  invariant  .*\(I\d+\): `)},
	{"the excerpt", regexp.MustCompile(`^ *\d+ ms  \S`)},
	{"the cause line", regexp.MustCompile(`^ *\d+ ms  .*   <- here$`)},
	{"the command", regexp.MustCompile(`^  again    interlock mutants `)},
	{"the place", regexp.MustCompile(`^  look     `)},
	{"the explanation", regexp.MustCompile(`^  explain  interlock explain I\d+$`)},
}

// lacking is what a person misses in the text of a violation: sentence, fault,
// invariant, excerpt, cause line and command, in 24 lines of 80 columns.
func lacking(m mutant.Mutant, text string) (problems []string) {
	miss := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if len(lines) > 24 {
		miss("%d lines", len(lines))
	}
	at := 0
	for _, part := range parts {
		found := slices.IndexFunc(lines[at:], part.line.MatchString)
		if found < 0 {
			miss("%s is missing, or stands too early", part.name)
			continue
		}
		at += found
		if part.name != "the excerpt" { // the cause line may be the first of it
			at++
		}
	}
	for _, l := range lines {
		if n := utf8.RuneCountInString(l); n > 80 {
			miss("%d columns: %s", n, l)
		}
	}
	for _, want := range []string{"✗ " + m.Scenario + "\n", "(" + m.Invariant + "): ", "  explain  interlock explain " + m.Invariant + "\n"} {
		if !strings.Contains(text, want) {
			miss("%q is missing", want)
		}
	}
	return problems
}

// TestWhatATextLacksIsSeen takes each part away, and puts the last one first.
func TestWhatATextLacksIsSeen(t *testing.T) {
	m, _ := mutant.Find("last-write-wins")
	text := readText(t, filepath.Join("testdata", "mutants", m.Name+".txt"))
	for _, part := range parts {
		var left []string
		for _, l := range strings.Split(text, "\n") {
			if !part.line.MatchString(l) {
				left = append(left, l)
			}
		}
		if len(lacking(m, strings.Join(left, "\n"))) == 0 {
			t.Errorf("%s can be left out unseen", part.name)
		}
	}
	head, tail, _ := strings.Cut(text, "\n\n")
	for name, wrong := range map[string]string{
		"another order": tail + head, "another invariant": strings.ReplaceAll(text, m.Invariant, "I99"), "a wide line": text + strings.Repeat("x", 81), "many lines": text + strings.Repeat("\n", 24),
	} {
		if len(lacking(m, wrong)) == 0 {
			t.Errorf("%s is not seen", name)
		}
	}
}

// TestEveryMutantIsToldAndRepeated plays every mutant for real, takes the command
// out of its text, and runs it: the same invariant breaks again. It takes minutes,
// so it asks for -mutants; with -update it writes what the test above reads, and repeats nothing.
func TestEveryMutantIsToldAndRepeated(t *testing.T) {
	if *played == "" {
		t.Skip("-mutants run plays all mutants: minutes")
	}
	dir := *played
	work := t.TempDir()
	program := filepath.Join(work, "interlock")
	if *update && dir != "run" {
		// nothing is played
	} else if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "..").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if dir == "run" {
		dir = filepath.Join(work, "all")
		out, err := exec.CommandContext(t.Context(), program, "mutants", "--seed", "7", "--out", dir, "--timeout", "2h").CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	again := regexp.MustCompile(`(?m)^  again    (interlock mutants .*)$`)
	for _, m := range mutant.All() {
		t.Run(m.Name, func(t *testing.T) {
			e := evidenceOf(t, filepath.Join(dir, m.Name), m)
			text := e.text()
			for _, problem := range lacking(m, text) {
				t.Errorf("%s\n%s", problem, text)
			}
			if *update {
				e.write(t, m.Name)
				write(t, filepath.Join("testdata", "mutants", m.Name+".txt"), readEvidence(t, m.Name).text())
				return // repeat them without -update
			}
			command := again.FindStringSubmatch(text)
			if command == nil {
				t.Fatal("no command")
			}
			repeat := exec.CommandContext(t.Context(), "sh", "-c", command[1])
			repeat.Dir = t.TempDir()
			repeat.Env = append(os.Environ(), "PATH="+work+string(os.PathListSeparator)+os.Getenv("PATH"))
			out, err := repeat.CombinedOutput()
			if err != nil || !strings.Contains(string(out), "caught     1 of 1 by the named scenario and invariant") {
				t.Errorf("%s: %v\n%s", command[1], err, out)
			}
		})
	}
}

// evidenceOf takes the play that broke the named invariant out of a report folder.
func evidenceOf(t *testing.T, dir string, m mutant.Mutant) evidence {
	t.Helper()
	stored, err := report.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	by, err := report.ReadHistory(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range stored.Run.Plays {
		if p.Verdict == invariant.Violation && p.Result.Violated(invariant.ID(m.Invariant)) {
			run := stored.Run
			p.Named = invariant.ID(m.Invariant)
			run.Plays, run.Coverage, run.Versions, run.Command, run.Skipped = []report.Play{p}, nil, nil, nil, nil
			return evidence{run, by[p.History]}
		}
	}
	t.Fatalf("no play in %s broke %s", dir, m.Invariant)
	return evidence{}
}

func readText(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
