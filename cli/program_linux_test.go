package cli_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

const (
	// toEnd bounds how long a process may take to be at work, and to end.
	toEnd = 90 * time.Second
	// toLetGo bounds how long what it left behind can keep a stream of its open.
	toLetGo = 10 * time.Second
)

// program is the test binary at work as interlock, in a folder of its own that is
// its temporary folder, too.
type program struct {
	cmd  *exec.Cmd
	tmp  string // its temporary folder
	mark string // in the environment of it and of all its children
	in   io.WriteCloser
	out  watched
	said watched
	done chan struct{}
}

// startProgram starts it with words; screens names the streams that are a terminal:
// "in", "out", "err". Standard input is a pipe else.
func startProgram(t *testing.T, env, words []string, screens ...string) *program {
	t.Helper()
	tmp, err := os.MkdirTemp("", "interlock-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(tmp) })
	if err := os.Chmod(tmp, 0o711); err != nil { // a PostgreSQL of another user must pass through it
		t.Fatal(err)
	}
	p := &program{tmp: tmp, mark: fmt.Sprintf("CLI_TEST_MARK=%d-%d", os.Getpid(), time.Now().UnixNano()), done: make(chan struct{})}
	p.cmd = exec.CommandContext(t.Context(), os.Args[0], append([]string{asProgram}, words...)...)
	p.cmd.Dir, p.cmd.Env = t.TempDir(), append(slices.Clone(env), p.mark, "TMPDIR="+tmp)
	p.cmd.Stdout, p.cmd.Stderr = &p.out, &p.said
	p.cmd.WaitDelay = toLetGo
	var read sync.WaitGroup
	var masters []*os.File
	for _, screen := range screens {
		terminal := openTerminal(t)
		defer func() { _ = terminal.slave.Close() }()
		var into *watched
		switch screen {
		case "in":
			p.cmd.Stdin, p.in = terminal.slave, terminal.master
			continue
		case "out":
			p.cmd.Stdout, into = terminal.slave, &p.out
		case "err":
			p.cmd.Stderr, into = terminal.slave, &p.said
		}
		masters = append(masters, terminal.master)
		read.Go(func() { _, _ = io.Copy(into, terminal.master) }) // until nobody holds the other end
	}
	if p.in == nil {
		if p.in, err = p.cmd.StdinPipe(); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(p.done)
		_ = p.cmd.Wait()
		for _, master := range masters {
			_ = master.SetReadDeadline(time.Now().Add(toLetGo))
		}
		read.Wait()
	}()
	t.Cleanup(func() { _ = p.cmd.Process.Kill(); <-p.done })
	return p
}

// wait returns the exit code.
func (p *program) wait(t *testing.T) int {
	t.Helper()
	select {
	case <-p.done:
	case <-time.After(toEnd):
		t.Errorf("it does not end: %.600s", p.said.String())
		_ = p.cmd.Process.Kill()
		<-p.done
	}
	return p.cmd.ProcessState.ExitCode()
}

// await waits until holds, which what describes, while the program runs.
func (p *program) await(t *testing.T, what string, holds func() bool) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for limit := time.After(toEnd); !holds(); {
		select {
		case <-tick.C:
		case <-p.done:
			t.Fatalf("it ended by itself, exit %d, before %s\n%.600s\n%.600s", p.cmd.ProcessState.ExitCode(), what, p.out.String(), p.said.String())
		case <-limit:
			t.Fatalf("it never came to %s\n%.600s\n%.600s", what, p.out.String(), p.said.String())
		}
	}
}

// children are the command lines of the processes that descend from p.
func (p *program) children() (lines []string) {
	parents := map[int]int{}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range stats {
		text, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		_, rest, _ := strings.Cut(string(text), ") ") // the name may hold anything
		if fields := strings.Fields(rest); len(fields) > 1 {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
			parents[pid], _ = strconv.Atoi(fields[1])
		}
	}
	for pid := range parents {
		for up := parents[pid]; up > 1; up = parents[up] {
			if up == p.cmd.Process.Pid {
				line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
				lines = append(lines, string(bytes.ReplaceAll(line, []byte{0}, []byte(" "))))
				break
			}
		}
	}
	return lines
}

// leftBehind fails where something of p is still there after its end: a process, by
// its environment or by its folder, or a file in the temporary folder.
func (p *program) leftBehind(t *testing.T) {
	t.Helper()
	folders, err := filepath.Glob("/proc/[0-9]*")
	if err != nil || len(folders) == 0 {
		t.Fatalf("no /proc: %v", err)
	}
	for _, folder := range folders {
		environ, _ := os.ReadFile(filepath.Join(folder, "environ"))
		cwd, _ := os.Readlink(filepath.Join(folder, "cwd"))
		if bytes.Contains(environ, []byte(p.mark)) || strings.HasPrefix(cwd, p.tmp+"/") {
			line, _ := os.ReadFile(filepath.Join(folder, "cmdline"))
			t.Errorf("a process is left behind: %s", bytes.ReplaceAll(line, []byte{0}, []byte(" ")))
		}
	}
	entries, err := os.ReadDir(p.tmp)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		t.Errorf("%s is left behind in the temporary folder", e.Name())
	}
}

// watched is a buffer that can be read while a process writes it.
type watched struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (w *watched) Write(text []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.b.Write(text)
}

func (w *watched) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.b.String()
}

func (w *watched) has(text string) func() bool {
	return func() bool { return strings.Contains(w.String(), text) }
}
