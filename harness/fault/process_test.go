package fault_test

import (
	"context"
	"os/exec"
	"syscall"
	"testing"

	"github.com/interlock-harness/interlock/harness/fault"
	"github.com/interlock-harness/interlock/harness/history"
	"github.com/interlock-harness/interlock/harness/stage/process"
)

// sleeper is a process of the kind that faults handle.
type sleeper struct{ p *process.Process }

func (s *sleeper) Start(context.Context) (err error) {
	s.p, err = process.Start("sleeper", exec.Command("sleep", "60"), syscall.SIGKILL)
	return err
}
func (s *sleeper) PID() int        { return s.p.PID() }
func (s *sleeper) Running() bool   { return s.p.Running() }
func (s *sleeper) Exit() string    { return s.p.Exit() }
func (s *sleeper) Term() error     { return s.p.Signal(syscall.SIGTERM) }
func (s *sleeper) Pause() error    { return s.p.Signal(syscall.SIGSTOP) }
func (s *sleeper) Continue() error { return s.p.Signal(syscall.SIGCONT) }
func (s *sleeper) Kill() error {
	if err := s.p.Signal(syscall.SIGKILL); err != nil {
		return err
	}
	<-s.p.Done()
	return nil
}
func (s *sleeper) Exited(ctx context.Context) error { return s.p.Wait(ctx) }

func TestProcessFaultsFireAndHeal(t *testing.T) {
	for name, c := range map[string]struct {
		arm  func(context.Context, *history.Recorder, *sleeper) (*fault.OnProcess, error)
		exit string
	}{
		"kill": {func(_ context.Context, r *history.Recorder, s *sleeper) (*fault.OnProcess, error) {
			return fault.Kill(r, "worker-1", s)
		}, "signal: killed"},
		"term": {func(ctx context.Context, r *history.Recorder, s *sleeper) (*fault.OnProcess, error) {
			f, err := fault.Term(r, "worker-1", s)
			if err != nil {
				return nil, err
			}
			return f, f.Ended(ctx)
		}, "signal: terminated"},
		"pause": {func(ctx context.Context, r *history.Recorder, s *sleeper) (*fault.OnProcess, error) {
			return fault.Pause(ctx, r, "worker-1", s)
		}, "running"},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, rec, s := bounded(t), history.New(), &sleeper{}
			if err := s.Start(ctx); err != nil {
				t.Fatal(err)
			}
			f, err := c.arm(ctx, rec, s)
			if err != nil {
				t.Fatal(err)
			}
			if !f.Fired() || s.Exit() != c.exit {
				t.Errorf("fired %v, exit %q, want %q", f.Fired(), s.Exit(), c.exit)
			}
			if err := f.Heal(ctx); err != nil {
				t.Error(err)
			}
			if !s.Running() {
				t.Error("it does not run after healing")
			}
			lived(t, rec, name, true)
			if err := s.Kill(); err != nil {
				t.Error(err)
			}
			if _, err := fault.Pause(ctx, history.New(), "worker-1", s); err == nil {
				t.Error("a dead process was paused")
			}
		})
	}
}
