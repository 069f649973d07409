package browser_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/interlock-harness/interlock/harness/browser"
)

// machine is a PATH with programs of these names and no others.
func machine(t *testing.T, programs ...string) string {
	t.Helper()
	bin := t.TempDir()
	for _, name := range programs {
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", bin)
	return bin
}

func TestTheFirstNameOfChromiumThatIsInstalledIsTaken(t *testing.T) {
	bin := machine(t, "google-chrome", "chromium-browser")
	if got := browser.Chromium(); got != filepath.Join(bin, "chromium-browser") {
		t.Errorf("found %q", got)
	}
	machine(t, "firefox")
	if got := browser.Chromium(); got != "" {
		t.Errorf("found %q where there is none", got)
	}
}

func TestWhatIsMissingIsSaid(t *testing.T) {
	folder := t.TempDir()
	machine(t, "node")
	if _, err := browser.Command(t.Context(), folder, "x.test.mjs"); !errors.Is(err, browser.ErrNoPrograms) {
		t.Errorf("without a browser: %v", err)
	}
	machine(t, "chromium")
	if _, err := browser.Command(t.Context(), folder, "x.test.mjs"); !errors.Is(err, browser.ErrNoPrograms) {
		t.Errorf("without node: %v", err)
	}
	bin := machine(t, "chromium", "node")
	if _, err := browser.Command(t.Context(), folder, "x.test.mjs"); !errors.Is(err, browser.ErrNoPackages) {
		t.Errorf("without packages: %v", err)
	}
	if err := os.MkdirAll(filepath.Join(folder, "node_modules", "puppeteer-core"), 0o755); err != nil {
		t.Fatal(err)
	}
	cmd, err := browser.Command(t.Context(), folder, "x.test.mjs", "PAGES=here")
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{filepath.Join(bin, "node"), "--test", "--test-reporter=tap", "x.test.mjs"}; !slices.Equal(cmd.Args, want) || cmd.Dir != folder {
		t.Errorf("%v in %s, want %v", cmd.Args, cmd.Dir, want)
	}
	for _, want := range []string{"PAGES=here", "CHROMIUM=" + filepath.Join(bin, "chromium")} {
		if !slices.Contains(cmd.Env, want) {
			t.Errorf("the environment lacks %s", want)
		}
	}
}
