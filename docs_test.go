package main_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
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

// pages are the documents and all others that name a command or a flag.
func pages(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("docs/*/*.md")
	if err != nil {
		t.Fatal(err)
	}
	return append(append(documents(t), files...), "ARCHITECTURE.md", "CHANGELOG.md")
}

// flagsOf are the flags of a command and of those below it, as the help shows them.
func flagsOf(t *testing.T, words ...string) (names []string) {
	t.Helper()
	var out, errs bytes.Buffer
	if code := cli.Main(append(append([]string{}, words...), "--help"), strings.NewReader(""), &out, &errs); code != cli.ExitOK {
		t.Fatalf("interlock %s --help: exit %d: %s", strings.Join(words, " "), code, errs.String())
	}
	for _, flag := range regexp.MustCompile(`(?m)^ +(?:-\w, )?--([a-z-]+)`).FindAllStringSubmatch(out.String(), -1) {
		names = append(names, flag[1])
	}
	_, below, _ := strings.Cut(out.String(), "Available Commands:\n")
	below, _, _ = strings.Cut(below, "\n\n")
	for _, command := range regexp.MustCompile(`(?m)^  ([a-z]+)`).FindAllStringSubmatch(below, -1) {
		if command[1] != "help" {
			names = append(names, flagsOf(t, append(append([]string{}, words...), command[1])...)...)
		}
	}
	return names
}

// unlisted are flags in the pages that the help does not show, each with the reason.
var unlisted = map[string]string{
	"mutant": "hidden: it breaks the service, on the throw-away database of a stage only",
}

// others begin spans that are not ours.
var others = regexp.MustCompile(`^(go|git|npm|node|cosign|openssl|docker|psql|pg_\w+|kubectl|curl|jq|apt-get) `)

// strangeFlags are the flags between backquotes that no command has.
func strangeFlags(text string, known []string) (strange []string) {
	for _, span := range regexp.MustCompile("`([^`\n]*)`").FindAllStringSubmatch(text, -1) {
		if others.MatchString(span[1]) {
			continue
		}
		for _, flag := range regexp.MustCompile(`(?:^| |\[)--([a-z][a-z-]*)`).FindAllStringSubmatch(span[1], -1) {
			if !slices.Contains(known, flag[1]) && unlisted[flag[1]] == "" {
				strange = append(strange, flag[1])
			}
		}
	}
	return strange
}

// TestEveryFlagInTheProseExists looks at the flags that stand by themselves: those
// after a whole command are looked at with it.
func TestEveryFlagInTheProseExists(t *testing.T) {
	known := flagsOf(t)
	for _, name := range []string{"json", "shrink", "owner-rate", "vllm"} { // of the root, a command, the service, a command below one
		if !slices.Contains(known, name) {
			t.Fatalf("--%s is not among the %d flags that the help shows", name, len(known))
		}
	}
	for _, file := range pages(t) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range strangeFlags(string(text), known) {
			t.Errorf("%s: there is no flag --%s", file, name)
		}
	}
	if got := strangeFlags("with `--seed 7`, `report --chek`, `gate --wait 1m --trsut F`, `npm ci --prefix x`, `a` --none `b`", known); strings.Join(got, " ") != "chek trsut" {
		t.Errorf("strange are %q, want chek and trsut", got)
	}
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
	for _, file := range pages(t) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, span := range regexp.MustCompile("`interlock ([a-z][^`\n]*)`").FindAllStringSubmatch(string(text), -1) {
			words := strings.Fields(strings.NewReplacer("[", "", "]", "", "...", "X").Replace(span[1]))
			for i, w := range words {
				if w == "N" || w == "S" { // a number
					words[i] = "1"
				}
			}
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
