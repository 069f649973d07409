package console_test

import (
	"context"
	"os"
	"testing"
	"time"

	browsers "github.com/interlock-harness/interlock/harness/browser"
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
	cmd, err := browsers.Command(ctx, "browser", "console.test.mjs", "CONSOLE_BINARY="+self, "CONSOLE_TOKEN="+token, "CONSOLE_RUNS="+t.TempDir())
	if err != nil {
		t.Skip(err)
	}
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Fatal(err)
	}
}
