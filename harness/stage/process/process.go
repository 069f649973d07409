// Package process starts child processes that cannot outlive their owner and
// can be killed, paused and observed from outside.
//
// The rule it keeps: a child lives in its own process group (a Ctrl-C at the
// terminal reaches the owner only, who then decides), dies with its owner
// where the kernel offers that (Linux), and its end is always waited for.
package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
)

// Process is one running, or ended, child.
type Process struct {
	Name string

	cmd  *exec.Cmd
	done chan struct{} // closed when the child has ended and its pipes are drained
	err  error         // as exec.Cmd.Wait told it; read after done
}

// Start starts cmd. orphan is the signal that the kernel sends to the child
// when this process ends without stopping it first (Linux only; 0 for none).
// Fields of cmd.SysProcAttr that the caller set, such as Credential, stay.
//
// cmd must not come from exec.CommandContext: the end of a context would kill
// the child behind the back of whoever watches it.
func Start(name string, cmd *exec.Cmd, orphan syscall.Signal) (*Process, error) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setpgid = true
	dieWithOwner(cmd.SysProcAttr, orphan)

	p := &Process{Name: name, cmd: cmd, done: make(chan struct{})}
	started := make(chan error, 1)
	go func() {
		// The kernel ties "owner" to the thread that started the child, so
		// that thread must live until the child has ended.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		if err := cmd.Start(); err != nil {
			started <- err
			return
		}
		started <- nil
		p.err = cmd.Wait()
		close(p.done)
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	return p, nil
}

// PID is the process id of the child, which is also its process group.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Done is closed when the child has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Running says whether the child has not ended yet. A paused child runs.
func (p *Process) Running() bool {
	select {
	case <-p.done:
		return false
	default:
		return true
	}
}

// Exit describes how the child ended ("exit status 3", "signal: killed"), or
// "running".
func (p *Process) Exit() string {
	if p.Running() {
		return "running"
	}
	if p.cmd.ProcessState == nil {
		return "ended"
	}
	return p.cmd.ProcessState.String()
}

// ExitCode is the exit status of the child: -1 while it runs or when a signal
// ended it.
func (p *Process) ExitCode() int {
	if p.Running() || p.cmd.ProcessState == nil {
		return -1
	}
	return p.cmd.ProcessState.ExitCode()
}

// Signal sends sig to the child alone.
func (p *Process) Signal(sig syscall.Signal) error {
	if !p.Running() {
		return fmt.Errorf("signal %s to %s: %w", sig, p.Name, os.ErrProcessDone)
	}
	if err := p.cmd.Process.Signal(sig); err != nil {
		return fmt.Errorf("signal %s to %s: %w", sig, p.Name, err)
	}
	return nil
}

// SignalGroup sends sig to the child and to all of its own children.
func (p *Process) SignalGroup(sig syscall.Signal) error {
	if !p.Running() {
		return fmt.Errorf("signal %s to the group of %s: %w", sig, p.Name, os.ErrProcessDone)
	}
	if err := syscall.Kill(-p.PID(), sig); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("signal %s to the group of %s: %w", sig, p.Name, err)
	}
	return nil
}

// Wait returns when the child has ended, or with the context's error.
func (p *Process) Wait(ctx context.Context) error {
	select {
	case <-p.done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%s (pid %d) has not ended: %w", p.Name, p.PID(), ctx.Err())
	}
}

// End makes sure that the child is gone: it sends sig, waits until grace has
// ended, and kills the whole group if the child is still there by then.
func (p *Process) End(grace context.Context, sig syscall.Signal) {
	if !p.Running() {
		return
	}
	_ = p.Signal(syscall.SIGCONT) // a paused child could not act on sig
	_ = p.Signal(sig)
	if p.Wait(grace) == nil {
		return
	}
	_ = p.SignalGroup(syscall.SIGKILL)
	<-p.done // SIGKILL cannot be refused
}
