// Package browser finds what the tests of pages run on: Chromium, Node, and the
// packages beside their scripts. What is missing is said with the command that
// brings it; nothing is fetched and no browser is started here.
package browser

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
)

// names under which systems install Chromium, the best first.
var names = []string{"chromium", "chromium-browser", "google-chrome"}

// Chromium is the path of the browser, "" where none is on the PATH.
func Chromium() string {
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// What a machine may lack.
var (
	ErrNoPrograms = errors.New("no chromium or no node on this machine: apt-get install chromium nodejs npm")
	ErrNoPackages = errors.New("the packages of the browser tests are not installed: npm ci --prefix console/browser")
)

// Command is the one that runs file, a test for Node in folder, with env added to
// the environment and CHROMIUM naming the browser. It returns ErrNoPrograms or
// ErrNoPackages where the machine lacks something.
func Command(ctx context.Context, folder, file string, env ...string) (*exec.Cmd, error) {
	chromium := Chromium()
	node, err := exec.LookPath("node")
	if chromium == "" || err != nil {
		return nil, ErrNoPrograms
	}
	if _, err := os.Stat(filepath.Join(folder, "node_modules", "puppeteer-core")); err != nil {
		return nil, ErrNoPackages
	}
	cmd := exec.CommandContext(ctx, node, "--test", "--test-reporter=tap", file)
	cmd.Dir = folder
	cmd.Env = append(append(os.Environ(), env...), "CHROMIUM="+chromium)
	return cmd, nil
}
