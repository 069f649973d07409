package service_test

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/standin"
	"github.com/interlock-harness/interlock/service"
	"github.com/interlock-harness/interlock/service/internal/pgtest"
)

// TestMain is the service too, when it is called as one.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && (os.Args[1] == "serve" || os.Args[1] == "migrate") {
		os.Exit(service.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(pgtest.Main(m))
}

// toCome bounds how long a process may take to start, to answer, or to end.
const toCome = 20 * time.Second

// child is a service as a real process.
type child struct {
	t      testing.TB
	cmd    *exec.Cmd
	stdout *bufio.Reader
	stderr *buffer
	once   sync.Once
	rest   string
	ended  chan struct{}
	URL    string
}

type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) { b.mu.Lock(); defer b.mu.Unlock(); return b.b.Write(p) }
func (b *buffer) String() string              { b.mu.Lock(); defer b.mu.Unlock(); return b.b.String() }

// spawn starts the command; env is added to a clean environment.
func spawn(t testing.TB, env []string, args ...string) *child {
	t.Helper()
	c := &child{t: t, cmd: exec.Command(os.Args[0], args...), stderr: &buffer{}, ended: make(chan struct{})}
	c.cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME")}, env...)
	c.cmd.Stderr = c.stderr
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.stdout = bufio.NewReader(out)
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.cmd.Process.Kill()
		c.reap()
	})
	return c
}

// reap collects the process once it has ended.
func (c *child) reap() {
	c.once.Do(func() {
		rest, _ := io.ReadAll(c.stdout)
		_ = c.cmd.Wait()
		c.rest = string(rest)
		close(c.ended)
	})
}

// wait returns the exit code, and what is left on standard output.
func (c *child) wait() (int, string) {
	c.t.Helper()
	go c.reap()
	select {
	case <-c.ended:
		return c.cmd.ProcessState.ExitCode(), c.rest
	case <-time.After(toCome):
		c.t.Fatalf("the process does not end; it says %s", c.stderr)
	}
	return -1, ""
}

// run runs a command to its end.
func run(t testing.TB, env []string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	c := spawn(t, env, args...)
	code, stdout = c.wait()
	return code, stdout, c.stderr.String()
}

// start starts serve and waits until it listens.
func start(t testing.TB, env []string, args ...string) *child {
	t.Helper()
	c := spawn(t, env, append([]string{"serve"}, args...)...)
	line := make(chan string, 1)
	go func() {
		text, _ := c.stdout.ReadString('\n')
		line <- text
	}()
	select {
	case text := <-line:
		var l struct {
			Listening string
			Roles     []string
		}
		if err := json.Unmarshal([]byte(text), &l); err != nil || l.Listening == "" || len(l.Roles) == 0 {
			c.wait()
			t.Fatalf("it does not say where it listens: %q; %s", text, c.stderr)
		}
		c.URL = "http://" + l.Listening
	case <-time.After(toCome):
		t.Fatalf("it does not start: %s", c.stderr)
	}
	return c
}

// stop sends SIGTERM and waits.
func (c *child) stop() (code int) {
	c.t.Helper()
	if err := c.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		c.t.Fatal(err)
	}
	code, _ = c.wait()
	return code
}

// setting is a configuration on disk with one owner and one operator, and a
// stand-in as openai-demo.
type setting struct {
	flags    []string
	env      []string
	url      string // of the database
	provider *standin.Server
	dir      string
}

const (
	ownerKey    = "ilk_owner"
	operatorKey = "ilk_operator"
)

func newSetting(t testing.TB) *setting {
	t.Helper()
	s := &setting{url: pgtest.Database(t), dir: t.TempDir()}
	var err error
	s.provider, err = standin.Start(standin.Options{Name: "openai-demo", Protocol: providers.OpenAIChat, Model: "standin-orion-1",
		Fallback: func(standin.Ask) string { return `{"queue":"technical","urgency":"low","summary":"No paper."}` }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.provider.Close() })
	s.write(t, "keys", fmt.Sprintf("# keys of the test\no-1 owner %x\n\noperator-1 operator %x\n", sha256.Sum256([]byte(ownerKey)), sha256.Sum256([]byte(operatorKey))))
	if err := os.Mkdir(filepath.Join(s.dir, "profiles"), 0o700); err != nil {
		t.Fatal(err)
	}
	s.write(t, "profiles/openai-demo.yaml", "name: openai-demo\nprotocol: openai-chat\nbase_url: "+s.provider.URL()+"\nmodel: standin-orion-1\nallow_loopback: true\n"+
		"auth:\n  header: Authorization\n  scheme: Bearer\n  env: INTERLOCK_OPENAI_DEMO_KEY\n")
	s.flags = []string{"--listen", "127.0.0.1:0", "--keys", s.path("keys"), "--profiles", s.path("profiles"),
		"--allow-unsafe-database", "--migrate", "--poll", "10ms", "--reap", "50ms", "--shutdown-grace", "3s"}
	s.env = []string{"DATABASE_URL=" + s.url, "INTERLOCK_OPENAI_DEMO_KEY=secret-of-the-provider"}
	return s
}

func (s *setting) path(name string) string { return filepath.Join(s.dir, name) }

func (s *setting) write(t testing.TB, name, text string) string {
	t.Helper()
	if err := os.WriteFile(s.path(name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return s.path(name)
}

func (s *setting) start(t testing.TB, more ...string) *child {
	t.Helper()
	return start(t, s.env, append(s.flags, more...)...)
}

// ask sends one request and returns status, headers and body.
func (c *child) ask(method, path, key, body string, header ...string) (int, http.Header, string) {
	c.t.Helper()
	r, err := http.NewRequest(method, c.URL+path, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	if key != "" {
		r.Header.Set("Authorization", "Bearer "+key)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	client := http.Client{Timeout: toCome, Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(r)
	if err != nil {
		c.t.Fatalf("%s %s: %v; %s", method, path, err, c.stderr)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil && !errors.Is(err, io.EOF) {
		c.t.Fatal(err)
	}
	return resp.StatusCode, resp.Header, string(text)
}

func intent(text string) string {
	return `{"intent":{"contract":"triage","provider":"openai-demo","input":{"text":"` + text + `"}}}`
}

func field(t testing.TB, body, name string) string {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal([]byte(body), &v); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	if v[name] == nil {
		return ""
	}
	return fmt.Sprint(v[name])
}
