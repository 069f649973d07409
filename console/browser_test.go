package console_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// toBrowse bounds the whole of the browser tests.
const toBrowse = 8 * time.Minute

// TestTheConsoleInABrowser runs browser/console.test.mjs: what needs a script, a
// screen and a keyboard.
func TestTheConsoleInABrowser(t *testing.T) {
	chromium := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			chromium = path
			break
		}
	}
	node, err := exec.LookPath("node")
	if chromium == "" || err != nil {
		t.Skip("no chromium or no node on this machine: apt-get install chromium nodejs npm")
	}
	if _, err := os.Stat(filepath.Join("browser", "node_modules", "puppeteer-core")); err != nil {
		t.Skip("the packages of the browser tests are not installed: npm ci --prefix console/browser")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), toBrowse)
	defer cancel()
	cmd := exec.CommandContext(ctx, node, "--test", "--test-reporter=tap", "console.test.mjs")
	cmd.Dir = "browser"
	cmd.Env = append(os.Environ(), "CONSOLE_BINARY="+self, "CONSOLE_TOKEN="+token, "CONSOLE_RUNS="+t.TempDir(), "CHROMIUM="+chromium)
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Fatal(err)
	}
}
