package console_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	browsers "github.com/interlock-harness/interlock/harness/browser"
	"github.com/interlock-harness/interlock/harness/history"
	"github.com/interlock-harness/interlock/harness/invariant"
	"github.com/interlock-harness/interlock/harness/report"
)

// toBrowse bounds the whole of the browser tests.
const toBrowse = 8 * time.Minute

// TestTheConsoleInABrowser runs browser/console.test.mjs: what needs a script, a
// screen and a keyboard.
func TestTheConsoleInABrowser(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), toBrowse)
	defer cancel()
	cmd, err := browsers.Command(ctx, "browser", "console.test.mjs", "CONSOLE_BINARY="+self, "CONSOLE_TOKEN="+token, "CONSOLE_RUNS="+foreign(t))
	if err != nil {
		t.Skip(err)
	}
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Fatal(err)
	}
}

// foreign is a folder of runs in which somebody left one whose names and texts are
// hostile.
func foreign(t *testing.T) string {
	t.Helper()
	const text = "\"><img src=x onerror=alert(1)>\u202e\x1b[2J?a=b#c%2f"
	runs := t.TempDir()
	folder, err := report.NewFolder(filepath.Join(runs, text), 7, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	run := report.Run{ID: text, Command: []string{"verify", text}, Target: text, Stage: text, Started: time.Now()}
	run.Begin(folder.Recorder)
	play := folder.Recorder.Child(text)
	play.Invoke(history.Op{Actor: text, Op: text, Key: text, Job: text}).OK(200, text, text, history.Job{ID: text, Status: text})
	run.Plays = []report.Play{{Slug: text, Title: text, Text: text, Group: text, Fault: text, History: text, Verdict: invariant.Verdict(text), Trouble: text}}
	run.End(folder.Recorder)
	if err := folder.Write(&run); err != nil {
		t.Fatal(err)
	}
	return runs
}
