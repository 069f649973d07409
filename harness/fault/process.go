package fault

import (
	"context"
	"fmt"

	"github.com/interlock-harness/interlock/harness/history"
)

// Process is what a fault needs of a process of the service.
type Process interface {
	PID() int
	Running() bool
	Exit() string
	Kill() error
	Term() error
	Pause() error
	Continue() error
	Start(context.Context) error
	Exited(context.Context) error
}

// OnProcess is a fault on one process.
type OnProcess struct {
	*state
	process Process
	mend    func(context.Context) error
}

// Kill ends the process at once (SIGKILL); Heal starts it again.
func Kill(rec *history.Recorder, name string, p Process) (*OnProcess, error) {
	f := &OnProcess{state: arm(rec, "kill", Processes, name+" is killed"), process: p}
	f.mend = func(ctx context.Context) error {
		if p.Running() {
			return nil
		}
		return p.Start(ctx)
	}
	pid := p.PID()
	if err := p.Kill(); err != nil {
		f.heal()
		return nil, err
	}
	evidence := p.Exit()
	if pid != 0 { // one that others started has none that we know
		evidence = fmt.Sprintf("process %d: %s", pid, evidence)
	}
	f.fire(evidence)
	return f, nil
}

// Term asks the process to end in order (SIGTERM) and does not wait: Ended
// does. Heal starts it again.
func Term(rec *history.Recorder, name string, p Process) (*OnProcess, error) {
	f := &OnProcess{state: arm(rec, "term", Processes, name+" is asked to end"), process: p}
	f.mend = func(ctx context.Context) error {
		if err := f.Ended(ctx); err != nil {
			return err
		}
		return p.Start(ctx)
	}
	if err := p.Term(); err != nil {
		f.heal()
		return nil, err
	}
	return f, nil
}

// Ended waits until the process has ended. Of a Term this is the evidence.
func (f *OnProcess) Ended(ctx context.Context) error {
	if err := f.process.Exited(ctx); err != nil {
		return err
	}
	f.fire(f.process.Exit())
	return nil
}

// Pause stops the process where it stands (SIGSTOP); Heal lets it go on.
func Pause(ctx context.Context, rec *history.Recorder, name string, p Process) (*OnProcess, error) {
	f := &OnProcess{state: arm(rec, "pause", Processes, name+" stands still"), process: p}
	f.mend = func(context.Context) error {
		if !p.Running() {
			return nil
		}
		return p.Continue()
	}
	if err := p.Pause(); err != nil {
		f.heal()
		return nil, err
	}
	evidence, err := standsStill(ctx, p.PID())
	if err != nil {
		return nil, fmt.Errorf("pause %s: %w", name, err)
	}
	f.fire(evidence)
	return f, nil
}

// Heal implements Fault.
func (f *OnProcess) Heal(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, toHeal)
	defer cancel()
	if !f.heal() {
		return nil
	}
	return f.mend(ctx)
}
