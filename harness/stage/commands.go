package stage

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/interlock-harness/interlock/harness/fault"
	"github.com/interlock-harness/interlock/harness/history"
	"github.com/interlock-harness/interlock/harness/stage/process"
	"github.com/interlock-harness/interlock/harness/target"
)

// commanded is a foreign target that the commands of its adapter start, stop and
// kill (level L3). All its replicas are one process to the harness: a command
// reaches the whole target. It implements fault.Process.
//
// The rule it keeps: the exit status of a command is never the only evidence. A
// target was started when it answers at each of its addresses, and it has ended
// when nothing listens at any of them.
type commanded struct {
	adapter  *target.Adapter
	addrs    []string
	log      *os.File
	recorder *history.Recorder

	mu      sync.Mutex
	service *process.Process // the start command, which may be the target itself
	ended   string           // evidence of the target's last end
	stopped chan struct{}    // closed when a Term is over; nil without one
	stopErr error            // read after stopped
}

var errNoSignal = errors.New("the target's commands can start, stop and kill it, and nothing else")

// setCommands makes the target startable, sees that nobody else has started it,
// and starts it.
func (s *Stage) setCommands(ctx context.Context, addrs []string) error {
	f := s.o.Foreign
	if f.Level() < 3 {
		return nil
	}
	folder := s.dir
	if s.o.Out != "" {
		folder = filepath.Join(s.o.Out, "logs")
	}
	log, err := os.OpenFile(filepath.Join(folder, "target.log"), os.O_CREATE|os.O_APPEND|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	c := &commanded{adapter: f.Adapter, addrs: addrs, log: log, recorder: s.Recorder}
	for _, addr := range addrs {
		if listens(ctx, addr) {
			return errors.Join(fmt.Errorf("something listens at %s before the target was started: at level L3 it is started and ended by the commands of its adapter, so stop it first", addr), log.Close())
		}
	}
	s.target = c // from here on Close ends it
	return c.Start(ctx)
}

// Start implements fault.Process. It returns when the target answers.
func (c *commanded) Start(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, c.adapter.CommandTimeout())
	defer cancel()
	from := c.written()
	p, err := c.spawn(target.CommandStart)
	if err != nil {
		return err
	}
	c.mu.Lock()
	c.service, c.stopped, c.stopErr = p, nil, nil
	c.mu.Unlock()
	err = Until(ctx, "the target answers", func(ctx context.Context) (bool, error) {
		if !p.Running() && p.ExitCode() != 0 {
			return true, nil // it never will
		}
		for _, addr := range c.addrs {
			if err := c.answers(ctx, addr); err != nil {
				return false, err
			}
		}
		return true, nil
	})
	switch {
	case !p.Running() && p.ExitCode() != 0:
		return fmt.Errorf("%s: it ended with %s before the target answered%s", c.shown(target.CommandStart), p.Exit(), c.said(from))
	case err != nil:
		how := "it still runs"
		if !p.Running() {
			how = "it ended with " + p.Exit()
		}
		_ = p.SignalGroup(syscall.SIGKILL)
		return fmt.Errorf("%s: %s, and the target does not answer at %s after %s%s", c.shown(target.CommandStart), how, strings.Join(c.addrs, " and "), c.adapter.CommandTimeout(), c.said(from))
	}
	c.note(target.CommandStart, "the target answers")
	return nil
}

// Kill implements fault.Process. It returns when the target is gone.
func (c *commanded) Kill() error { return c.end(target.CommandKill) }

// Term implements fault.Process. It does not wait: Exited does.
func (c *commanded) Term() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopped != nil {
		return errors.New("the target was asked to end already")
	}
	done := make(chan struct{})
	c.stopped = done
	go func() {
		defer close(done)
		err := c.end(target.CommandStop)
		c.mu.Lock()
		c.stopErr = err
		c.mu.Unlock()
	}()
	return nil
}

// Exited implements fault.Process.
func (c *commanded) Exited(ctx context.Context) error {
	c.mu.Lock()
	stopped := c.stopped
	c.mu.Unlock()
	if stopped == nil {
		return nil
	}
	select {
	case <-stopped:
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.stopErr
	case <-ctx.Done():
		return fmt.Errorf("%s: the target has not ended: %w", c.shown(target.CommandStop), ctx.Err())
	}
}

// PID implements fault.Process: that of a start command that is the target
// itself; 0 where it has ended and left the target running.
func (c *commanded) PID() int {
	if p := c.current(); p != nil && p.Running() {
		return p.PID()
	}
	return 0
}

// Running implements fault.Process.
func (c *commanded) Running() bool {
	if c.PID() != 0 {
		return true
	}
	ctx, cancel := context.WithTimeout(context.Background(), toStop)
	defer cancel()
	return c.listening(ctx) != ""
}

// Exit implements fault.Process.
func (c *commanded) Exit() string {
	if c.Running() {
		return "running"
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ended
}

// Pause implements fault.Process.
func (c *commanded) Pause() error { return errNoSignal }

// Continue implements fault.Process.
func (c *commanded) Continue() error { return errNoSignal }

// end runs stop or kill and waits until the target is gone.
func (c *commanded) end(name string) error {
	ctx, cancel := context.WithTimeout(context.Background(), c.adapter.CommandTimeout())
	defer cancel()
	from := c.written()
	p, err := c.spawn(name)
	if err != nil {
		return err
	}
	if p.Wait(ctx) != nil {
		_ = p.SignalGroup(syscall.SIGKILL)
		<-p.Done()
		return fmt.Errorf("%s: it has not ended after %s%s", c.shown(name), c.adapter.CommandTimeout(), c.said(from))
	}
	if p.ExitCode() != 0 {
		return fmt.Errorf("%s: it ended with %s%s", c.shown(name), p.Exit(), c.said(from))
	}
	if Until(ctx, "the target is gone", func(ctx context.Context) (bool, error) { return c.listening(ctx) == "", nil }) != nil {
		return fmt.Errorf("%s: it ended with %s, and the target still listens at %s after %s%s", c.shown(name), p.Exit(), c.listening(context.Background()), c.adapter.CommandTimeout(), c.said(from))
	}
	if service := c.current(); service != nil && service.Wait(ctx) != nil {
		return fmt.Errorf("%s: it ended with %s and nothing listens any more, and the command that started the target still runs after %s", c.shown(name), p.Exit(), c.adapter.CommandTimeout())
	}
	evidence := fmt.Sprintf("%s ended with %s, and nothing listens at %s", c.shown(name), p.Exit(), strings.Join(c.addrs, " and "))
	c.mu.Lock()
	c.ended = evidence
	c.mu.Unlock()
	c.note(name, evidence)
	return nil
}

// close leaves nothing of the target behind.
func (c *commanded) close() error {
	var failed error
	if c.Running() {
		if failed = c.end(target.CommandStop); failed != nil && c.Running() {
			if err := c.end(target.CommandKill); err != nil {
				failed = errors.Join(failed, err)
			} else {
				failed = fmt.Errorf("%w; the target was killed", failed)
			}
		}
	}
	if p := c.current(); p != nil {
		_ = p.SignalGroup(syscall.SIGKILL)
		<-p.Done()
	}
	return errors.Join(failed, c.log.Close())
}

// spawn starts a command whose output goes to the log: a file, because what it
// leaves running must be able to go on writing.
func (c *commanded) spawn(name string) (*process.Process, error) {
	argv := c.adapter.Commands[name]
	_, _ = fmt.Fprintf(c.log, "--- %s\n", c.shown(name))
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdout, cmd.Stderr = c.log, c.log
	p, err := process.Start(name, cmd, syscall.SIGKILL)
	if err != nil {
		return nil, fmt.Errorf("command %s of the adapter: %w", name, err)
	}
	return p, nil
}

// shown names a command in a message: its program, without arguments, which may
// hold secrets.
func (c *commanded) shown(name string) string {
	return fmt.Sprintf("command %s (%s)", name, filepath.Base(c.adapter.Commands[name][0]))
}

func (c *commanded) note(name, evidence string) {
	c.recorder.Note("process", "target", "command", struct {
		Command  string `json:"command"`
		Evidence string `json:"evidence"`
	}{name, evidence})
}

// written is how much the log holds.
func (c *commanded) written() int64 {
	if info, err := c.log.Stat(); err == nil {
		return info.Size()
	}
	return 0
}

// said is the end of what was written to the log after from, for a message.
func (c *commanded) said(from int64) string {
	text := make([]byte, tailSize)
	from = max(from, c.written()-tailSize)
	n, _ := c.log.ReadAt(text, from)
	lines := bytes.SplitAfter(text[:n], []byte("\n"))
	kept := bytes.Join(lines, nil)
	for i, line := range lines {
		if bytes.HasPrefix(line, []byte("--- command ")) {
			kept = bytes.Join(lines[i+1:], nil)
		}
	}
	t := &tail{buf: kept}
	return t.quote()
}

func (c *commanded) current() *process.Process {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.service
}

// listening is an address at which something listens, "" when there is none.
func (c *commanded) listening(ctx context.Context) string {
	for _, addr := range c.addrs {
		if listens(ctx, addr) {
			return addr
		}
	}
	return ""
}

// answers says whether a replica answers HTTP, with 200 where the adapter names
// the path that says so.
func (c *commanded) answers(ctx context.Context, addr string) error {
	status, err := probe(ctx, "http://"+addr+c.adapter.ReadyPath())
	if err == nil && c.adapter.Ready != "" && status != http.StatusOK {
		return fmt.Errorf("%s answers %d, not 200", c.adapter.Ready, status)
	}
	return err
}

// listens says whether something takes connections at addr. It looks to the end
// also when ctx ends meanwhile: a look that was broken off is no evidence.
func listens(ctx context.Context, addr string) bool {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", addr)
	if err != nil {
		return false
	}
	_ = conn.Close()
	return true
}

// handle is what a fault on the process acts on: the commands of a foreign target.
func (p *Process) handle() fault.Process {
	if p.target != nil {
		return p.target
	}
	return p
}
