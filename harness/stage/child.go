package stage

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"github.com/interlock-harness/interlock/harness/loopback"
	"github.com/interlock-harness/interlock/harness/stage/process"
)

// Process is one process of the service: an API replica or a worker. It keeps
// its name, its port and its log over restarts.
type Process struct {
	Name string // api-1, worker-1
	Role string // api, worker

	command []string // executable and arguments, without --listen
	env     []string
	log     *logFile
	target  *commanded // set where the process is that of a foreign target

	mu   sync.Mutex
	addr string
	proc *process.Process
	said *tail
}

// Addr is host:port at which the process listens. Workers listen too, for
// health.
func (p *Process) Addr() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.addr
}

// URL is Addr as an HTTP base URL.
func (p *Process) URL() string { return "http://" + p.Addr() }

// PID is the process id, 0 when it does not run.
func (p *Process) PID() int {
	if c := p.current(); c != nil && c.Running() {
		return c.PID()
	}
	return 0
}

// Running says whether the process is there, paused or not.
func (p *Process) Running() bool { return p.PID() != 0 }

// Exit says how the process ended, or "running".
func (p *Process) Exit() string {
	if c := p.current(); c != nil {
		return c.Exit()
	}
	return "never started"
}

// Start starts the process and returns when it is ready (/readyz).
func (p *Process) Start(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, toStart)
	defer cancel()
	first := p.Addr() == "" // afterwards others know the address
	for try := 0; ; try++ {
		err := p.start(ctx)
		if err == nil {
			return nil
		}
		if !errors.Is(err, errPortTaken) || !first || try == 3 {
			return err
		}
		p.mu.Lock()
		p.addr = ""
		p.mu.Unlock()
	}
}

var errPortTaken = errors.New("its port is taken")

// taken says whether somebody listens at addr: who took the port between its choice
// and the start, now that our process is gone.
func taken(addr string) bool {
	l, err := net.Listen("tcp4", addr)
	if err != nil {
		return errors.Is(err, syscall.EADDRINUSE)
	}
	_ = l.Close()
	return false
}

func (p *Process) start(ctx context.Context) error {
	if p.Running() {
		return fmt.Errorf("start %s: it runs already", p.Name)
	}
	p.mu.Lock()
	addr := p.addr
	p.mu.Unlock()
	if addr == "" {
		port, err := loopback.Port()
		if err != nil {
			return err
		}
		addr = fmt.Sprintf("127.0.0.1:%d", port)
	}
	cmd := exec.Command(p.command[0], append(append([]string(nil), p.command[1:]...), "--listen", addr)...)
	cmd.Env = p.env
	said := &tail{}
	cmd.Stderr = io.MultiWriter(p.log, said)
	listening := newFirstLine()
	cmd.Stdout = listening
	proc, err := process.Start(p.Name, cmd, syscall.SIGKILL)
	if err != nil {
		return err
	}
	p.mu.Lock()
	p.proc, p.said, p.addr = proc, said, addr
	p.mu.Unlock()

	if err := p.ready(ctx, proc, listening); err != nil {
		_ = proc.SignalGroup(syscall.SIGKILL)
		<-proc.Done()
		if taken(addr) {
			return fmt.Errorf("start %s: %w", p.Name, errPortTaken)
		}
		return fmt.Errorf("start %s: %w%s", p.Name, err, said.quote())
	}
	return nil
}

// ready waits for the line that says where the process listens, then for
// /readyz to answer 200.
func (p *Process) ready(ctx context.Context, proc *process.Process, listening *firstLine) error {
	select {
	case <-listening.done:
	case <-proc.Done():
		return fmt.Errorf("it ended before it listened: %s", proc.Exit())
	case <-ctx.Done():
		return fmt.Errorf("it does not listen: %w", ctx.Err())
	}
	var line struct {
		Listening string `json:"listening"`
	}
	if err := json.Unmarshal(listening.line(), &line); err != nil || line.Listening == "" {
		return fmt.Errorf("its first line is %q, not where it listens", listening.line())
	}
	p.mu.Lock()
	p.addr = line.Listening
	p.mu.Unlock()
	tick := time.NewTicker(between)
	defer tick.Stop()
	for {
		status, err := probe(ctx, p.URL()+"/readyz")
		if err == nil && status == http.StatusOK {
			return nil
		}
		select {
		case <-proc.Done():
			return fmt.Errorf("it ended before it was ready: %s", proc.Exit())
		case <-ctx.Done():
			return fmt.Errorf("it is not ready (status %d, %w)", status, errors.Join(err, ctx.Err()))
		case <-tick.C:
		}
	}
}

func probe(ctx context.Context, url string) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, err
	}
	resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
	if err != nil {
		return 0, err
	}
	return resp.StatusCode, resp.Body.Close()
}

// Kill ends the process at once (SIGKILL) and returns when it is gone.
func (p *Process) Kill() error {
	return p.end(syscall.SIGKILL)
}

// Term asks the process to end in order (SIGTERM). Exited tells when it has.
func (p *Process) Term() error { return p.signal(syscall.SIGTERM) }

// Pause stops the process where it stands (SIGSTOP); Continue lets it go on.
func (p *Process) Pause() error { return p.signal(syscall.SIGSTOP) }

// Continue lets a paused process go on (SIGCONT).
func (p *Process) Continue() error { return p.signal(syscall.SIGCONT) }

// Exited waits until the process has ended.
func (p *Process) Exited(ctx context.Context) error {
	c := p.current()
	if c == nil {
		return nil
	}
	return c.Wait(ctx)
}

// Restart kills the process if it runs and starts it again at the same
// address.
func (p *Process) Restart(ctx context.Context) error {
	if p.Running() {
		if err := p.Kill(); err != nil {
			return err
		}
	}
	return p.Start(ctx)
}

// Log is the file that holds what the process wrote to standard error, ""
// when none is kept.
func (p *Process) Log() string { return p.log.path }

// Said is the end of what the running or last process wrote to standard error.
func (p *Process) Said() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.said == nil {
		return ""
	}
	return p.said.String()
}

func (p *Process) current() *process.Process {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.proc
}

func (p *Process) signal(sig syscall.Signal) error {
	c := p.current()
	if c == nil {
		return fmt.Errorf("signal %s to %s: it was never started", sig, p.Name)
	}
	return c.Signal(sig)
}

func (p *Process) end(sig syscall.Signal) error {
	c := p.current()
	if c == nil {
		return nil
	}
	if err := c.Signal(sig); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), toStop)
	defer cancel()
	return c.Wait(ctx)
}

// remove ends the process whatever it takes.
func (p *Process) remove() {
	c := p.current()
	if c == nil || !c.Running() {
		return
	}
	_ = c.SignalGroup(syscall.SIGKILL) // its work is over and its database goes
	<-c.Done()
}
