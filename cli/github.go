package cli

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/interlock-harness/interlock/harness/history"
	"github.com/interlock-harness/interlock/harness/report"
)

// tellGitHub hands the result to GitHub Actions: annotations on the log, the
// summary of the step, and the step's outputs verdict, exit-code and report. The
// two files are those that the runner names in the environment; where it names
// none, that part is left out.
func tellGitHub(out io.Writer, run *report.Run, dir string, events map[string][]history.Event) error {
	if err := run.Annotations(out, events); err != nil {
		return err
	}
	summary, err := os.ReadFile(filepath.Join(dir, report.SummaryFile))
	if err != nil {
		return err
	}
	if err := addTo("GITHUB_STEP_SUMMARY", summary); err != nil {
		return err
	}
	return addTo("GITHUB_OUTPUT", fmt.Appendf(nil, "verdict=%s\nexit-code=%d\nreport=%s\n", run.Verdict(), report.ExitCode(run.Verdict()), dir))
}

// addTo appends to the file that an environment variable names.
func addTo(variable string, text []byte) error {
	path := os.Getenv(variable)
	if path == "" {
		return nil
	}
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("%s: %w", variable, err)
	}
	if _, err = file.Write(text); err != nil {
		_ = file.Close()
		return fmt.Errorf("%s: %w", variable, err)
	}
	return file.Close()
}
