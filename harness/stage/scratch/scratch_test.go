package scratch_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/interlock-harness/interlock/harness/stage/scratch"
)

// deadPID is the id of a process that has ended.
func deadPID(t *testing.T) int {
	t.Helper()
	cmd := exec.Command("true")
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	return cmd.Process.Pid
}

func plant(t *testing.T, parent, name, marker string) string {
	t.Helper()
	dir := filepath.Join(parent, name)
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if marker != "" {
		if err := os.WriteFile(filepath.Join(dir, "interlock-owner.json"), []byte(marker), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestSweepRemovesOnlyWhatADeadOwnerLeft(t *testing.T) {
	parent := t.TempDir()
	mine, err := scratch.New(parent, "test")
	if err != nil {
		t.Fatal(err)
	}
	dead := plant(t, parent, "interlock-dead", fmt.Sprintf(`{"product":"interlock","pid":%d,"started":"ticks 1"}`, deadPID(t)))
	reused := plant(t, parent, "interlock-reused", fmt.Sprintf(`{"product":"interlock","pid":%d,"started":"ticks 1"}`, os.Getpid()))
	kept := []string{mine,
		plant(t, parent, "interlock-unmarked", ""),
		plant(t, parent, "interlock-broken", "{"),
		plant(t, parent, "interlock-foreign", fmt.Sprintf(`{"product":"other","pid":%d}`, deadPID(t))),
		plant(t, parent, "other-dead", fmt.Sprintf(`{"product":"interlock","pid":%d,"started":"ticks 1"}`, deadPID(t))),
	}
	var ended []string
	removed, err := scratch.Sweep(parent, func(dir string) error { ended = append(ended, dir); return nil })
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{dead, reused}; !slices.Equal(removed, want) || !slices.Equal(ended, want) {
		t.Errorf("removed %v, ended %v, want %v", removed, ended, want)
	}
	for _, dir := range kept {
		if _, err := os.Stat(dir); err != nil {
			t.Errorf("%s is gone", dir)
		}
	}
}

func TestSweepKeepsAFolderWhoseServerDoesNotEnd(t *testing.T) {
	parent := t.TempDir()
	dead := plant(t, parent, "interlock-dead", fmt.Sprintf(`{"product":"interlock","pid":%d,"started":"ticks 1"}`, deadPID(t)))
	stubborn := errors.New("does not end")
	if _, err := scratch.Sweep(parent, func(string) error { return stubborn }); !errors.Is(err, stubborn) {
		t.Errorf("error is %v", err)
	}
	if _, err := os.Stat(dead); err != nil {
		t.Error("the folder is gone under a running server")
	}
}
