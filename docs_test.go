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

// TestEveryCommandOfTheDocumentsIsUnderstood asks the program for help on each
// command that a document prints, with all its flags.
func TestEveryCommandOfTheDocumentsIsUnderstood(t *testing.T) {
	files, err := filepath.Glob("docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, file := range append(files, "README.md", "CONTRIBUTING.md") {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, words := range commandsOf(string(text)) {
			seen++
			var out, errs bytes.Buffer
			if code := cli.Main(append(words, "--help"), strings.NewReader(""), &out, &errs); code != cli.ExitOK {
				t.Errorf("%s: interlock %s: exit %d: %s", file, strings.Join(words, " "), code, errs.String())
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
