package main_test

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/interlock-harness/interlock/cli"
)

// textsOf are the texts that a source may print: the string literals of Go, and
// templates as a whole.
func textsOf(name string, source []byte) (texts []string, err error) {
	if filepath.Ext(name) != ".go" {
		return []string{regexp.MustCompile(`<[^>]*>`).ReplaceAllString(string(source), "\n")}, nil
	}
	file, err := parser.ParseFile(token.NewFileSet(), name, source, 0)
	if err != nil {
		return nil, err
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			if text, err := strconv.Unquote(lit.Value); err == nil {
				texts = append(texts, text)
			}
		}
		return true
	})
	return texts, nil
}

var (
	advised = regexp.MustCompile("\\binterlock ((?:[a-z]|-)[^\n`\"|&<>;()]*)")
	// sentenceEnd is where a command that stands in a sentence is over at the latest.
	sentenceEnd = regexp.MustCompile(`[,.:]( |$)|  |'`)
	filling     = regexp.MustCompile(`%(\[\d\])?[a-z]`)
)

// advisedIn are the words of each call of interlock in a text, with those of the
// sentence around it: only commands and flags are looked at. What the program
// fills in is filled with 1, which is a name, a number and a file.
func advisedIn(text string) (all [][]string) {
	for _, found := range advised.FindAllStringSubmatch(text, -1) {
		line := found[1]
		if end := sentenceEnd.FindStringIndex(line); end != nil {
			line = line[:end[0]]
		}
		if words := strings.Fields(filling.ReplaceAllString(line, "1")); len(words) > 0 {
			all = append(all, words)
		}
	}
	return all
}

// fits asks the program for help on a call, which runs nothing. It returns an error
// where the command, or one of the flags, does not exist.
func fits(words []string) error {
	if strings.HasPrefix(words[len(words)-1], "--") { // its value may stand in the next text
		for _, value := range []string{"1", "1s"} {
			if fits(append(append([]string{}, words...), value)) == nil {
				return nil
			}
		}
	}
	at := len(words)
	for i, w := range words {
		if strings.HasPrefix(w, "-") {
			at = i
			break
		}
	}
	args := append(append(append([]string{}, words[:at]...), "--help"), words[at:]...)
	if words[0] == "serve" || words[0] == "migrate" { // their own parser ends at --help
		args = append(append([]string{}, words...), "--help")
	}
	var out, errs bytes.Buffer
	if code := cli.Main(args, strings.NewReader(""), &out, &errs); code != cli.ExitOK {
		return fmt.Errorf("exit %d: %s", code, strings.TrimSpace(errs.String()))
	}
	// A word that is no command gets the help of the command above it.
	usage := regexp.MustCompile(`(?m)^Usage:\n  interlock((?: [a-z]+)*) \[`).FindStringSubmatch(out.String())
	if usage != nil && strings.Contains(out.String(), "Available Commands:") {
		if given, path := strings.Join(words[:at], " "), strings.TrimSpace(usage[1]); given != path {
			return fmt.Errorf("no such command: %q is the nearest", "interlock "+path)
		}
	}
	return nil
}

// notCommands are sentences about interlock that look like a call of it.
var notCommands = map[string]string{
	"checks that one click makes one job": "the first line of the help",
	"stage":                               "the organization in the certificate of a stage",
	"cursor\x00":                          "the domain that separates the key of cursors",
	"interleave":                          "the name of a database connection",
	"mutant":                              "the name of a lock",
}

// TestEveryCommandInTheTextsIsUnderstood looks at all that the program may print:
// errors, violations, hints and pages. A command that it advises must exist, with
// its flags.
func TestEveryCommandInTheTextsIsUnderstood(t *testing.T) {
	seen, files, sentences := 0, map[string]bool{}, map[string]bool{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			switch d.Name() {
			case "node_modules", "testdata", ".git", "examples", "interop":
				return filepath.SkipDir
			}
			return nil
		}
		if ext := filepath.Ext(path); ext != ".go" && ext != ".tmpl" || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		source, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		texts, err := textsOf(path, source)
		if err != nil {
			return err
		}
		for _, text := range texts {
			for _, words := range advisedIn(text) {
				if said := strings.Join(words, " "); notCommands[said] != "" {
					sentences[said] = true
					continue
				}
				seen++
				files[path] = true
				if err := fits(words); err != nil {
					t.Errorf("%s: interlock %s: %v", path, strings.Join(words, " "), err)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen < 80 || len(files) < 20 {
		t.Errorf("%d commands found in %d files: the program prints more", seen, len(files))
	}
	for said, why := range notCommands {
		if !sentences[said] {
			t.Errorf("nothing says %q any more (%s)", said, why)
		}
	}
	t.Logf("%d commands in %d files", seen, len(files))
}

func TestACommandThatDoesNotExistIsFoundInATextThatAdvisesIt(t *testing.T) {
	source := "package p\n\n// interlock nothing is a comment\nvar _ = `no such scenario: interlock verify --list shows all %d.`\nvar _ = \"again  interlock replay %s --times %d\\n  explain  interlock explain --\" + x\nvar _ = \"interlock verfy\"\n"
	texts, err := textsOf("p.go", []byte(source))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, text := range texts {
		for _, words := range advisedIn(text) {
			got = append(got, strings.Join(words, " "))
		}
	}
	if want := "verify --list shows all 1|replay 1 --times 1|explain --|verfy"; strings.Join(got, "|") != want {
		t.Errorf("got %q, want %q", strings.Join(got, "|"), want)
	}
	for call, good := range map[string]bool{
		"verify --list shows all 1": true, "replay 1 --times 1": true, "gate --from": true, "report merge unites the parts": true,
		"serve --role api --listen 127.0.0.1:0": true, "migrate --pg-url": true, "serve --body-time": true, "serve": true, "man 1": true, "prompt": true,
		"verfy": false, "verify --lost": false, "gate --form 1 --to 1": false, "prompt chek": false, "verfy --out out": false,
		"serve --lisen 1": false, "serve --listen 1 --rol api": false, "srve --listen 1": false, "migrate --listen 1": false, "serve --body-tmie": false, "bench servcie": false,
		"--quiet prompt fetch": true, "--quite prompt fetch": false, "--quiet prompt fecth": false,
	} {
		if err := fits(strings.Fields(call)); (err == nil) != good {
			t.Errorf("interlock %s: %v, want understood: %v", call, err, good)
		}
	}
}
