package main_test

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/interlock-harness/interlock/cli"
)

// toEndOfTool bounds one call of `go tool`, which compiles and links at first.
const toEndOfTool = 5 * time.Minute

// tool is a call of the go command in the root of the module, with no setting of ours.
func tool(t *testing.T, words ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", words...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second
	for _, pair := range os.Environ() {
		if !strings.HasPrefix(pair, "INTERLOCK_") && !strings.HasPrefix(pair, "DATABASE_URL=") {
			cmd.Env = append(cmd.Env, pair)
		}
	}
	return cmd
}

// TestGoToolHandsTheExitCodeOn has each verdict go through `go tool interlock`, and
// says what `go run .` makes of it.
func TestGoToolHandsTheExitCodeOn(t *testing.T) {
	if testing.Short() {
		t.Skip("it links the program")
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		words string
		code  int
	}{
		{"tool interlock version", cli.ExitOK},
		{"tool interlock verify --dry-run double-click", cli.ExitOK},
		{"tool interlock contract lint --protocol gemini", cli.ExitViolation},
		{"tool interlock gate --from openai-demo --to anthropic-demo --contract invoice --certs " + filepath.Dir(file), cli.ExitInconclusive},
		{"tool interlock verify --list --label none", cli.ExitInconclusive},
		{"tool interlock key new " + filepath.Join(file, "below"), cli.ExitInfrastructure},
		{"tool interlock verify double-click --pg-url postgres://nobody@127.0.0.1:1/none --out " + filepath.Join(t.TempDir(), "out"), cli.ExitInfrastructure},
		{"tool interlock verify duoble-click", cli.ExitUsage},
		{"tool interlock verfy", cli.ExitUsage},
		{"tool interlcok version", 2}, // the go command's own: there is no such tool
		{"run . version", cli.ExitOK},
		{"run . verify --list --label none", 1},
		{"run . verify duoble-click", 1},
	} {
		out, err := tool(t, strings.Fields(c.words)...).CombinedOutput()
		if code := exitOf(t, err); code != c.code {
			t.Errorf("go %s: exit %d, want %d: %s", c.words, code, c.code, out)
		}
		if ran, is := strings.Contains(c.words, "tool"), strings.Contains(string(out), "exit status"); ran && is || !ran && is != (c.code != 0) {
			t.Errorf("go %s says %s", c.words, out)
		}
	}
}

// TestGoToolHandsSignalsOn interrupts a gate that waits for a yes: by a signal to the
// go command alone, as `timeout` and a CI runner send it, and by one to the whole
// group, as Ctrl-C does.
func TestGoToolHandsSignalsOn(t *testing.T) {
	if testing.Short() {
		t.Skip("it links the program")
	}
	for name, c := range map[string]struct {
		signal syscall.Signal
		group  bool
		code   int
	}{
		"SIGINT": {syscall.SIGINT, false, cli.ExitInterrupted}, "SIGTERM": {syscall.SIGTERM, false, cli.ExitTerminated},
		"Ctrl-C": {syscall.SIGINT, true, cli.ExitInterrupted},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := tool(t, "tool", "interlock", "gate", "--from", "openai-demo", "--to", "anthropic-demo", "--contract", "invoice", "--certs", t.TempDir(), "--wait", "10m")
			cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
			said, err := cmd.StderrPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			limit := time.AfterFunc(toEndOfTool, func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
			defer limit.Stop()
			lines, told := bufio.NewScanner(said), ""
			for !strings.Contains(told, "waiting up to 10m0s for a yes") && lines.Scan() {
				told += lines.Text() + "\n"
			}
			to := cmd.Process.Pid
			if c.group {
				to = -to
			}
			if err := syscall.Kill(to, c.signal); err != nil {
				t.Fatalf("%v: %s", err, told)
			}
			for lines.Scan() {
				told += lines.Text() + "\n"
			}
			if code := exitOf(t, cmd.Wait()); code != c.code {
				t.Errorf("exit %d, want %d: %s", code, c.code, told)
			}
		})
	}
}
