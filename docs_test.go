package main_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/interlock-harness/interlock/cli"
)

// program is how a document calls interlock.
var program = regexp.MustCompile(`^(?:[A-Z_]+=\S* )*(?:(?:\./)?interlock|go tool interlock|go run \.)(?: |$)`)

// commandsOf are the words of each call of interlock in the shell blocks of a
// document, as far as one program's words go.
func commandsOf(text string) [][]string {
	var all [][]string
	for _, block := range regexp.MustCompile("(?s)```(?:sh|bash)\n(.*?)```").FindAllStringSubmatch(text, -1) {
		for _, line := range strings.Split(strings.ReplaceAll(block[1], "\\\n", " "), "\n") {
			line = strings.TrimSpace(line)
			call := program.FindString(line)
			if call == "" {
				continue
			}
			line = line[len(call):]
			if end := regexp.MustCompile(`\s*(\||&&|;|>|<| #|^#)`).FindStringIndex(line); end != nil {
				line = line[:end[0]]
			}
			all = append(all, strings.Fields(line))
		}
	}
	return all
}

// documents are all pages that print commands.
func documents(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	return append(files, "README.md", "CONTRIBUTING.md")
}

// examplesOf are the calls that the help of a command shows, with those of the
// commands below it.
func examplesOf(t *testing.T, words ...string) (all [][]string) {
	t.Helper()
	var out, errs bytes.Buffer
	if code := cli.Main(append(append([]string{}, words...), "--help"), strings.NewReader(""), &out, &errs); code != cli.ExitOK {
		t.Fatalf("interlock %s --help: exit %d: %s", strings.Join(words, " "), code, errs.String())
	}
	section := ""
	for _, line := range strings.Split(out.String(), "\n") {
		name := strings.Fields(line)
		switch {
		case !strings.HasPrefix(line, " "):
			section = line
		case section == "Examples:" && len(name) > 1 && name[0] == "interlock":
			all = append(all, name[1:])
		case section == "Available Commands:" && len(name) > 0 && name[0] != "help" && name[0] != "completion":
			all = append(all, examplesOf(t, append(append([]string{}, words...), name[0])...)...)
		}
	}
	return all
}

// TestEveryExampleOfTheHelpIsUnderstood does the same with what the help shows.
func TestEveryExampleOfTheHelpIsUnderstood(t *testing.T) {
	list := examplesOf(t)
	if len(list) < 40 {
		t.Errorf("%d examples found: the help holds more", len(list))
	}
	for _, words := range list {
		if end := strings.IndexAny(strings.Join(words, " "), "|><&"); end >= 0 {
			words = strings.Fields(strings.Join(words, " ")[:end])
		}
		if err := fits(words); err != nil {
			t.Errorf("interlock %s: %v", strings.Join(words, " "), err)
		}
	}
}

// TestEveryCommandInTheProseIsUnderstood asks about the calls that stand between
// backquotes, whose file names and such are in capitals.
func TestEveryCommandInTheProseIsUnderstood(t *testing.T) {
	seen := 0
	for _, file := range documents(t) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, span := range regexp.MustCompile("`interlock ([a-z][^`\n]*)`").FindAllStringSubmatch(string(text), -1) {
			words := strings.Fields(strings.NewReplacer("[", "", "]", "", "...", "X").Replace(span[1]))
			seen++
			if err := fits(words); err != nil {
				t.Errorf("%s: interlock %s: %v", file, span[1], err)
			}
		}
	}
	if seen < 20 {
		t.Errorf("%d commands found: the documents hold more", seen)
	}
}

// TestEveryCommandOfTheDocumentsIsUnderstood asks the program for help on each
// command that a document prints, with all its flags.
func TestEveryCommandOfTheDocumentsIsUnderstood(t *testing.T) {
	seen := 0
	for _, file := range documents(t) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, words := range commandsOf(string(text)) {
			seen++
			if err := fits(words); err != nil {
				t.Errorf("%s: interlock %s: %v", file, strings.Join(words, " "), err)
			}
		}
	}
	if seen < 15 {
		t.Errorf("%d commands found: the documents hold more", seen)
	}
}

func TestCommandsOfADocumentAreFound(t *testing.T) {
	got := commandsOf("```sh\nKEY=1 interlock gate --from a \\\n  --to b && echo yes\necho interlock\ngo tool interlock verify # all\n```\n```json\ninterlock no\n```\n")
	if len(got) != 2 || strings.Join(got[0], " ") != "gate --from a --to b" || strings.Join(got[1], " ") != "verify" {
		t.Errorf("got %q", got)
	}
}
