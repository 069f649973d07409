package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/interlock-harness/interlock/cli"
	"github.com/interlock-harness/interlock/harness/report"
)

// desktop puts a program into the path that opens pages: it notes what it was asked.
func desktop(t *testing.T, script string) (asked func() string) {
	t.Helper()
	dir := t.TempDir()
	note := filepath.Join(dir, "asked")
	for _, name := range []string{"xdg-open", "open"} {
		text := "#!/bin/sh\nprintf %s \"$1\" > " + note + "\n" + script + "\n"
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	return func() string {
		text, _ := os.ReadFile(note)
		return string(text)
	}
}

func TestReportOpensThePage(t *testing.T) {
	t.Chdir(t.TempDir())
	runFolder(t, "a run", "reverse-order", "good-first-returns-first")
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	asked := desktop(t, "")
	if code, out, said := run(t, "report", "a run", "--open"); code != cli.ExitOK || !strings.Contains(out, "1 pass") {
		t.Errorf("exit %d\n%s%s", code, out, said)
	}
	if want := "file://" + strings.ReplaceAll(filepath.Join(here, "a run", report.HTMLFile), " ", "%20"); asked() != want {
		t.Errorf("%q was opened, want %q", asked(), want)
	}
	if code, _, said := run(t, "report", "a run", "--html", "all.html", "--open"); code != cli.ExitOK || !strings.HasSuffix(asked(), "/all.html") {
		t.Errorf("exit %d, %q was opened\n%s", code, asked(), said)
	}
	if err := os.Remove(filepath.Join("a run", report.HTMLFile)); err != nil {
		t.Fatal(err)
	}
	if code, _, said := run(t, "report", "a run", "--open"); code != cli.ExitInfrastructure || !strings.Contains(said, "there is no page") {
		t.Errorf("exit %d: %s", code, said)
	}
	desktop(t, "exit 4")
	if code, _, said := run(t, "report", "a run", "--html", "all.html", "--open"); code != cli.ExitInfrastructure || !strings.Contains(said, "by hand") {
		t.Errorf("exit %d: %s", code, said)
	}
}

func TestReportTellsGitHubLater(t *testing.T) {
	t.Chdir(t.TempDir())
	runFolder(t, "bad", "reverse-order", "bad-last-write-wins")
	t.Setenv("GITHUB_STEP_SUMMARY", "summary")
	t.Setenv("GITHUB_OUTPUT", "output")
	code, out, said := run(t, "report", "bad", "--github")
	if code != cli.ExitViolation || !strings.HasPrefix(out, "::error file=scenarios/reverse_order.go") {
		t.Errorf("exit %d\n%s%s", code, out, said)
	}
	if text := readText(t, "output"); text != "verdict=violation\nexit-code=1\nreport=bad\n" {
		t.Errorf("the outputs are %q", text)
	}
	if text := readText(t, "summary"); !strings.HasPrefix(text, "## ✗ violation") {
		t.Errorf("the summary is %q", text)
	}
	if code, _, said := run(t, "report", t.TempDir(), "--github"); code != cli.ExitInfrastructure {
		t.Errorf("a folder without a report: exit %d: %s", code, said)
	}
}

// TestReportBoundsThePage: a page of less than a MiB fits into one and is written; the
// histories of a passing run go first.
func TestReportBoundsThePage(t *testing.T) {
	t.Chdir(t.TempDir())
	runFolder(t, "good", "reverse-order", "good-first-returns-first")
	if code, _, said := run(t, "report", "good", "--html", "page.html", "--max-mb", "1"); code != cli.ExitOK || said != "" {
		t.Errorf("exit %d: %s", code, said)
	}
	if info, err := os.Stat("page.html"); err != nil || info.Size() > 1<<20 {
		t.Errorf("%v, %v", info, err)
	}
}

func TestReportRefusesWhatContradictsItself(t *testing.T) {
	t.Chdir(t.TempDir())
	runFolder(t, "good", "reverse-order", "good-first-returns-first")
	write(t, "bundle", "x")
	for want, args := range map[string]string{
		"--open and --no-input contradict":        "good --open --no-input",
		"--open is for a person":                  "good --open --check",
		"--github tells GitHub Actions":           "good --github --check",
		"bundle is a bundle: --open":              "bundle --open",
		"--max-mb is -1":                          "good --html p.html --max-mb -1",
		"--max-mb is 1001":                        "good --html p.html --max-mb 1001",
		"--full keeps everything":                 "good --html p.html --max-mb 1 --full",
		"--full and --max-mb go with --html FILE": "good --max-mb 1",
	} {
		code, out, said := run(t, append([]string{"report"}, strings.Fields(args)...)...)
		if code != cli.ExitUsage || out != "" || !strings.Contains(said, want) || strings.Count(said, "\n") != 1 {
			t.Errorf("report %s: exit %d, %q, want %q", args, code, said, want)
		}
	}
}
