package cli_test

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/interlock-harness/interlock/cli"
	"github.com/interlock-harness/interlock/harness/report"
)

// signalRow is a command that is at work until a signal ends it. $SILENT in args is
// the address of a server that takes connections and says nothing.
type signalRow struct {
	args string // after the command
	// ready says when the signal may come: a file of $OUT that must hold something,
	// "connected", "said" (standard error), "printed" (standard output) or "read"
	// (standard input).
	ready string
	// drains: SIGTERM and SIGINT are the way to end it, and exit 0 says that it did.
	drains bool
	// partial: a report of what was judged until then is in $OUT.
	partial bool
}

const silentURL = "postgres://nobody@$SILENT/none"

var signalTable = map[string]signalRow{
	"verify":         {args: "--seed 7 --out $OUT", ready: report.HistoryFile, partial: true},
	"replay":         {args: "$F/good.json --pg-url " + silentURL, ready: "connected"},
	"explore":        {args: "--plans 1000000 --seed 1 --out $OUT", ready: report.HistoryFile},
	"mutants":        {args: "last-write-wins --out $OUT --pg-url " + silentURL, ready: "connected"},
	"certify":        {args: "anthropic-demo --contract invoice --no-job-service --live --profiles $PROFILES", ready: "connected"},
	"record":         {args: "anthropic-demo --contract invoice --yes --profiles $PROFILES", ready: "connected"},
	"gate":           {args: "--from openai-demo --to anthropic-demo --contract invoice --wait 10m", ready: "said"},
	"judge":          {args: "-", ready: "read"},
	"healthcheck":    {args: "http://$SILENT/ --wait 10m", ready: "connected"},
	"bench service":  {args: "--only new --duration 10m --finished 1", ready: "tmp"},
	"prompt render":  {args: "--template $F/template.jinja", ready: "read"},
	"up":             {args: "--port 0 --no-input", ready: "printed"},
	"serve":          {args: "--listen 127.0.0.1:0 --migrate --keys $F/keys --allow-unsafe-database", ready: "printed", drains: true},
	"migrate":        {args: "--pg-url " + silentURL, ready: "connected"},
	"stand provider": {args: "openai-demo", ready: "printed"},
	"stand balancer": {args: "a=http://127.0.0.1:1", ready: "printed"},
}

// tooQuick are the commands that are over before a signal can be aimed at them:
// they wait for nobody.
var tooQuick = map[string]string{
	"report": "it reads files", "report merge": "it reads files", "contract lint": "it reads files",
	"key new": "it writes a file", "key show": "it reads a file", "man": "it writes files",
	"explain": "it prints", "doctor": "it looks around", "version": "it prints",
	"completion bash": "it prints", "completion zsh": "it prints", "completion fish": "it prints", "completion powershell": "it prints",
	"prompt check": "it reads files; a server that it asks is that of --server, with the same context",
	"prompt show":  "it reads files", "prompt tokenize": "it reads standard input as prompt render does, through the same reader",
	"prompt fetch": "it runs the npm client, which a test must not need",
}

// TestSignals ends each command that can be at work with SIGINT and with SIGTERM.
func TestSignals(t *testing.T) {
	f := exitFixtures(t)
	demo := readText(t, filepath.Join(f.dir, "away", "anthropic-demo.yaml"))
	write(t, filepath.Join(f.dir, "keys"), "ada owner "+strings.Repeat("0", 64)+"\n")
	for command, row := range signalTable {
		for _, sig := range []struct {
			signal syscall.Signal
			code   int
		}{{syscall.SIGINT, cli.ExitInterrupted}, {syscall.SIGTERM, cli.ExitTerminated}} {
			t.Run(command+" "+sig.signal.String(), func(t *testing.T) {
				dir := t.TempDir()
				silent, connected := silentServer(t)
				write(t, filepath.Join(dir, "anthropic-demo.yaml"), strings.Replace(demo, "127.0.0.1:1/", silent+"/", 1))
				out := filepath.Join(t.TempDir(), "out")
				words := f.words(exitRow{command: command, args: strings.NewReplacer("$SILENT", silent, "$PROFILES", dir, "$OUT", out).Replace(row.args)})
				p := startProgram(t, f.env, words)
				p.awaitReady(t, row.ready, out, connected)
				if err := p.cmd.Process.Signal(sig.signal); err != nil {
					t.Fatal(err)
				}
				want := sig.code
				if row.drains {
					want = cli.ExitOK
				}
				if code := p.wait(t); code != want {
					t.Errorf("exit %d, want %d\n%.600s\n%.600s", code, want, p.out.String(), p.said.String())
				}
				if said := p.said.String(); strings.Contains(said, "goroutine ") {
					t.Errorf("it panics: %.2000s", said)
				}
				p.leftBehind(t)
				if row.partial {
					stored, err := report.Load(out)
					if err != nil || !stored.Run.Interrupted {
						t.Errorf("the report: interrupted %v, %v", stored.Run.Interrupted, err)
					}
				}
			})
		}
	}
}

// TestASecondSignalEndsAtOnce is for a command that does not heed the first.
func TestASecondSignalEndsAtOnce(t *testing.T) {
	p := startProgram(t, os.Environ(), nil, deaf)
	p.awaitReady(t, "printed", "", nil)
	signals := time.NewTicker(100 * time.Millisecond)
	defer signals.Stop()
	ended := make(chan int, 1)
	go func() { ended <- p.wait(t) }()
	for limit := time.After(toEnd); ; {
		select {
		case code := <-ended:
			if code != cli.ExitTerminated {
				t.Errorf("exit %d, want %d", code, cli.ExitTerminated)
			}
			return
		case <-signals.C: // the same until a second has gone
			_ = p.cmd.Process.Signal(syscall.SIGTERM)
		case <-limit:
			t.Fatal("it does not end")
		}
	}
}

// toEnd bounds how long a process may take to be at work, and to end.
const toEnd = 90 * time.Second

// program is the test binary at work as interlock.
type program struct {
	cmd  *exec.Cmd
	mark string
	in   io.WriteCloser
	out  watched
	said watched
	done chan struct{}
}

func startProgram(t *testing.T, env, words []string, extra ...string) *program {
	t.Helper()
	p := &program{mark: fmt.Sprintf("CLI_TEST_MARK=%s-%d", t.Name(), time.Now().UnixNano()), done: make(chan struct{})}
	p.cmd = exec.CommandContext(t.Context(), os.Args[0], append([]string{asProgram}, words...)...)
	dir := t.TempDir()
	p.cmd.Dir, p.cmd.Env = dir, append(append(slices.Clone(env), p.mark, "TMPDIR="+dir), extra...)
	p.cmd.Stdout, p.cmd.Stderr = &p.out, &p.said
	var err error
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { defer close(p.done); _ = p.cmd.Wait() }()
	t.Cleanup(func() { _ = p.cmd.Process.Kill(); <-p.done })
	return p
}

func (p *program) wait(t *testing.T) int {
	select {
	case <-p.done:
	case <-time.After(toEnd):
		t.Errorf("it does not end: %.600s", p.said.String())
		_ = p.cmd.Process.Kill()
		<-p.done
	}
	return p.cmd.ProcessState.ExitCode()
}

func (p *program) awaitReady(t *testing.T, ready, out string, connected <-chan struct{}) {
	t.Helper()
	holds := func() bool { return true }
	switch ready {
	case "connected":
	case "read": // more than a pipe holds: when it is written somebody has read
		if _, err := p.in.Write(bytes.Repeat([]byte(" "), 1<<17)); err != nil {
			t.Fatal(err)
		}
		return
	case "printed":
		holds = func() bool { return p.out.String() != "" }
	case "said":
		holds = func() bool { return p.said.String() != "" }
	case "tmp":
		holds = func() bool { entries, err := os.ReadDir(p.cmd.Dir); return err == nil && len(entries) > 0 }
	default:
		holds = func() bool { info, err := os.Stat(filepath.Join(out, ready)); return err == nil && info.Size() > 0 }
	}
	if ready == "connected" {
		select {
		case <-connected:
			return
		case <-p.done:
		case <-time.After(toEnd):
		}
		t.Fatalf("it never asked: %.600s", p.said.String())
	}
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for limit := time.After(toEnd); !holds(); {
		select {
		case <-tick.C:
		case <-p.done:
			t.Fatalf("it ended by itself, exit %d: %.600s", p.cmd.ProcessState.ExitCode(), p.said.String())
		case <-limit:
			t.Fatalf("it never came to work: %.600s", p.said.String())
		}
	}
}

// leftBehind fails where a process that descends from p still runs.
func (p *program) leftBehind(t *testing.T) {
	t.Helper()
	environs, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil || len(environs) == 0 {
		return // no /proc on this machine
	}
	for _, file := range environs {
		if text, err := os.ReadFile(file); err == nil && bytes.Contains(text, []byte(p.mark)) {
			line, _ := os.ReadFile(filepath.Join(filepath.Dir(file), "cmdline"))
			t.Errorf("a process is left behind: %s", bytes.ReplaceAll(line, []byte{0}, []byte(" ")))
		}
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

// silentServer takes connections, says so, and never answers.
func silentServer(t *testing.T) (addr string, connected <-chan struct{}) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	came := make(chan struct{}, 1)
	go func() {
		var open []net.Conn
		for {
			c, err := l.Accept()
			if err != nil {
				for _, c := range open {
					_ = c.Close()
				}
				return
			}
			open = append(open, c)
			select {
			case came <- struct{}{}:
			default:
			}
		}
	}()
	return l.Addr().String(), came
}
