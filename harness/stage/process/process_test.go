package process_test

import (
	"context"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/interlock-harness/interlock/harness/stage/process"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const toEnd = 10 * time.Second

func bounded(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), toEnd)
	t.Cleanup(cancel)
	return ctx
}

func start(t *testing.T, args ...string) *process.Process {
	t.Helper()
	p, err := process.Start(args[0], exec.Command(args[0], args[1:]...), syscall.SIGKILL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.End(bounded(t), syscall.SIGKILL) })
	return p
}

func TestKillIsObserved(t *testing.T) {
	p := start(t, "sleep", "60")
	if !p.Running() || p.Exit() != "running" || p.ExitCode() != -1 {
		t.Fatalf("running %v, exit %q", p.Running(), p.Exit())
	}
	if err := p.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if err := p.Wait(bounded(t)); err != nil {
		t.Fatal(err)
	}
	if p.Exit() != "signal: killed" {
		t.Errorf("exit is %q", p.Exit())
	}
	if err := p.Signal(syscall.SIGKILL); err == nil {
		t.Error("a dead process took a signal")
	}
}

func TestEndReachesAPausedProcessAndOneThatRefuses(t *testing.T) {
	paused := start(t, "sleep", "60")
	if err := paused.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	paused.End(bounded(t), syscall.SIGTERM)
	if paused.Exit() != "signal: terminated" {
		t.Errorf("paused process ended by %q", paused.Exit())
	}

	cmd := exec.Command("sh", "-c", `trap "" TERM; echo ready; sleep 60 & wait; wait`)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	refuses, err := process.Start("refuses", cmd, syscall.SIGKILL)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 5)); err != nil { // the trap is set
		t.Fatal(err)
	}
	grace, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	refuses.End(grace, syscall.SIGTERM)
	if refuses.Exit() != "signal: killed" {
		t.Errorf("refusing process ended by %q", refuses.Exit())
	}
}

func TestExitCodeAndMissingProgram(t *testing.T) {
	p := start(t, "sh", "-c", "exit 3")
	if err := p.Wait(bounded(t)); err != nil || p.ExitCode() != 3 {
		t.Errorf("exit code %d, wait %v", p.ExitCode(), err)
	}
	if _, err := process.Start("none", exec.Command("/does/not/exist"), syscall.SIGKILL); err == nil {
		t.Error("a missing program was started")
	}
}
