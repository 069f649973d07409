package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/interlock-harness/interlock/cli"
)

// noPage are the commands without a manual page.
var noPage = map[string]string{
	"man": "hidden: it writes the pages", "stand provider": "hidden: a part of compose.yaml", "stand balancer": "hidden: a part of compose.yaml",
}

// TestEveryCommandHasAManualPage looks for the sections that a reader expects, and
// for every flag that the help shows.
func TestEveryCommandHasAManualPage(t *testing.T) {
	dir := t.TempDir()
	if code, _, said := run(t, "man", dir); code != cli.ExitOK {
		t.Fatalf("exit %d: %s", code, said)
	}
	pages, err := filepath.Glob(filepath.Join(dir, "*.1"))
	if err != nil {
		t.Fatal(err)
	}
	var commands []string
	for _, page := range pages {
		name := strings.TrimSuffix(filepath.Base(page), ".1")
		command := strings.TrimPrefix(strings.TrimPrefix(strings.ReplaceAll(name, "-", " "), "interlock"), " ")
		commands = append(commands, command)
		for _, wrong := range lacks(t, readText(t, page), name, strings.Fields(command)) {
			t.Errorf("%s: %s", name, wrong)
		}
	}
	for _, command := range cli.CommandPaths() {
		if slices.Contains(commands, command) == (noPage[command] != "") {
			t.Errorf("%s has a page: %v, and the reason for none is %q", command, noPage[command] == "", noPage[command])
		}
	}
	for _, group := range []string{"", "bench", "completion", "contract", "key", "prompt"} {
		if !slices.Contains(commands, group) {
			t.Errorf("there is no page of the group %q", group)
		}
	}
	t.Run("mandoc", func(t *testing.T) { warnings(t, pages, "mandoc", "-T", "lint", "-W", "warning") })
	t.Run("groff", func(t *testing.T) { warnings(t, pages, "groff", "-man", "-ww", "-z") })
}

// lacks says what a page ought to hold and does not.
func lacks(t *testing.T, page, name string, command []string) (wrong []string) {
	t.Helper()
	section := func(title string) string {
		_, after, found := strings.Cut(page, "\n.SH "+title+"\n")
		if !found {
			wrong = append(wrong, "no section "+title)
		}
		text, _, _ := strings.Cut(after, "\n.SH ")
		return text
	}
	if text := section("NAME"); !regexp.MustCompile(`^` + name + ` - \S+ `).MatchString(text) {
		wrong = append(wrong, "its name is "+text)
	}
	if text := section("SYNOPSIS"); !strings.HasPrefix(text, `\fB`+strings.Join(append([]string{"interlock"}, command...), " ")) {
		wrong = append(wrong, "its synopsis is "+text)
	}
	options := section("OPTIONS")
	_, more, _ := strings.Cut(page, ".SH OPTIONS INHERITED FROM PARENT COMMANDS\n")
	_, help, _ := run(t, append(slices.Clone(command), "--help")...)
	for _, flag := range regexp.MustCompile(`(?m)^ +(?:-\w, )?--([a-z-]+)`).FindAllStringSubmatch(help, -1) {
		if !strings.Contains(options+more, `\fB--`+flag[1]+`\fP`) {
			wrong = append(wrong, "no --"+flag[1])
		}
	}
	status := section("EXIT STATUS")
	for _, code := range []string{"0", "1", "2", "3", "64", "130", "143"} {
		if !strings.Contains(status, `.TP`+"\n"+`\fB`+code+`\fP`+"\n") {
			wrong = append(wrong, "no exit status "+code)
		}
	}
	if text := section("EXAMPLE"); !strings.Contains(text, strings.Join(append([]string{"interlock"}, command...), " ")) {
		wrong = append(wrong, "its example is "+text)
	}
	if strings.Contains(page, "mutant\\fP=") && strings.Contains(page, "\\fB--mutant") {
		wrong = append(wrong, "it shows a hidden flag")
	}
	return wrong
}

// TestAPageThatLacksSomethingIsFound takes one thing after the other away.
func TestAPageThatLacksSomethingIsFound(t *testing.T) {
	dir := t.TempDir()
	if code, _, said := run(t, "man", dir); code != cli.ExitOK {
		t.Fatalf("exit %d: %s", code, said)
	}
	page := readText(t, filepath.Join(dir, "interlock-serve.1"))
	if wrong := lacks(t, page, "interlock-serve", []string{"serve"}); len(wrong) > 0 {
		t.Fatalf("the whole page: %q", wrong)
	}
	for cut, want := range map[string]string{
		".SH NAME\n": "no section NAME", "interlock serve": "its synopsis is", `\fB--owner-rate\fP`: "no --owner-rate",
		`\fB143\fP`: "no exit status 143", ".SH EXAMPLE\n": "no section EXAMPLE",
	} {
		if wrong := strings.Join(lacks(t, strings.ReplaceAll(page, cut, ""), "interlock-serve", []string{"serve"}), "; "); !strings.Contains(wrong, want) {
			t.Errorf("without %q: %q, want %q", cut, wrong, want)
		}
	}
}

// warnings renders the pages with a program, which must have nothing to say. CI
// installs mandoc.
func warnings(t *testing.T, pages []string, name string, args ...string) {
	t.Helper()
	program, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("%s is not installed", name)
	}
	if out, err := exec.CommandContext(t.Context(), program, append(args, pages...)...).CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%s: %v: %.2000s", name, err, out)
	}
	bad := filepath.Join(t.TempDir(), "bad.1")
	if err := os.WriteFile(bad, []byte(".TH BAD 1\n.SH NAME\nbad\n.XYZ\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, _ := exec.CommandContext(t.Context(), program, append(args, bad)...).CombinedOutput(); len(out) == 0 {
		t.Errorf("%s has nothing to say about a bad page", name)
	}
}
