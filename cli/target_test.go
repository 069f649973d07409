package cli_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/interlock-harness/interlock/harness/loopback"
	"github.com/interlock-harness/interlock/harness/stage"
	"github.com/interlock-harness/interlock/harness/stage/pgserver"
	"github.com/interlock-harness/interlock/providers/fixtures"
)

// foreignService is the reference service as somebody else would run it: started
// by hand, with a configuration of its own.
type foreignService struct {
	url       string
	keys      string   // file for --target-keys
	providers []string // values for --provider

	addr     string
	database string   // its URL
	serve    []string // the command that starts it ...
	env      []string // ... with these variables, and DATABASE_URL
}

func startForeignService(t *testing.T) foreignService {
	f := newForeignService(t, 2)
	serve := exec.CommandContext(t.Context(), f.serve[0], f.serve[1:]...)
	serve.Env = append(append(os.Environ(), f.env...), "DATABASE_URL="+f.database)
	var said bytes.Buffer
	serve.Stdout, serve.Stderr = &said, &said
	if err := serve.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = serve.Process.Signal(syscall.SIGTERM)
		_ = serve.Wait()
		if t.Failed() {
			t.Logf("the service said: %s", said.String())
		}
	})
	return f
}

// newForeignService is all that the service needs before it is started.
func newForeignService(t *testing.T, owners int) foreignService {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	t.Cleanup(cancel)
	server, err := pgserver.Start(ctx, pgserver.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	database, err := server.Create(ctx, "")
	if err != nil {
		t.Fatal(err)
	}
	f := foreignService{keys: filepath.Join(t.TempDir(), "keys"), database: server.URL(database), addr: freePort(t)}
	folder := t.TempDir()
	for _, name := range []string{stage.OpenAI, stage.Anthropic} {
		addr := freePort(t)
		text, err := fixtures.FS.ReadFile("profiles/" + name + ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		text = regexp.MustCompile(`(?m)^base_url: .*$`).ReplaceAll(text, []byte("base_url: http://"+addr))
		for _, key := range regexp.MustCompile(`(?m)^  env: (\S+)$`).FindAllSubmatch(text, -1) {
			f.env = append(f.env, string(key[1])+"=any")
		}
		write(t, filepath.Join(folder, name+".yaml"), string(text))
		f.providers = append(f.providers, name+"="+addr)
	}
	var plain, hashed strings.Builder
	who := []string{"ops operator"}
	for i := range owners {
		who = append(who, fmt.Sprintf("owner-%d owner", i+1))
	}
	for _, who := range who {
		key := "ilk_" + strings.ReplaceAll(who, " ", "_")
		sum := sha256.Sum256([]byte(key))
		fmt.Fprintf(&plain, "%s %s\n", who, key)
		fmt.Fprintf(&hashed, "%s %s\n", who, hex.EncodeToString(sum[:]))
	}
	write(t, f.keys, plain.String())
	write(t, f.keys+".sha256", hashed.String())

	f.url = "http://" + f.addr
	f.serve = []string{os.Args[0], "serve", "--migrate", "--allow-unsafe-database", "--listen", f.addr, "--keys", f.keys + ".sha256",
		"--profiles", folder, "--poll", "10ms", "--reap", "50ms", "--deadline", "400ms"}
	return f
}

func freePort(t *testing.T) string {
	t.Helper()
	port, err := loopback.Port()
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("127.0.0.1:%d", port)
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// interlock runs the program as a process of its own: verify can be run once in a
// process.
func interlock(t *testing.T, args ...string) (code int, output string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], append([]string{asProgram}, args...)...)
	cmd.Dir = t.TempDir()
	text, err := cmd.CombinedOutput()
	if err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(text)
}

func TestVerifyJudgesAServiceThatSomebodyElseRuns(t *testing.T) {
	f := startForeignService(t)
	t.Run("at L1, with its providers", func(t *testing.T) {
		code, said := interlock(t, "verify", "double-click", "same-key-other-payload", "reverse-order", "simultaneous-finish",
			"--target", f.url, "--target-keys", f.keys, "--provider", strings.Join(f.providers, ","))
		if code != 0 || !strings.Contains(said, f.url) || !strings.Contains(said, "level L1") ||
			!strings.Contains(said, "3 pass, 0 violations, 0 inconclusive") || !strings.Contains(said, "not applicable at this level: simultaneous-finish") {
			t.Errorf("exit %d: %s", code, said)
		}
	})
	t.Run("at L0, in its own words", func(t *testing.T) {
		adapter := filepath.Join(t.TempDir(), "adapter.yaml")
		write(t, adapter, tasksAdapter)
		code, said := interlock(t, "verify", "double-click", "same-key-other-payload", "same-key-two-owners", "lost-response-retry",
			"--target", tasks(t, f.url), "--target-keys", f.keys, "--adapter", adapter)
		if code != 0 || !strings.Contains(said, "4 pass, 0 violations, 0 inconclusive") || !strings.Contains(said, "level L0") {
			t.Errorf("exit %d: %s", code, said)
		}
	})
	t.Run("that makes a job of each click", func(t *testing.T) {
		code, said := interlock(t, "verify", "double-click", "--target", careless(t, f.url), "--target-keys", f.keys)
		if code != 1 || !strings.Contains(said, "one job (I1)") || !strings.Contains(said, "--target http://") {
			t.Errorf("exit %d: %s", code, said)
		}
	})
	t.Run("that asks another provider than it was said to", func(t *testing.T) {
		code, said := interlock(t, "verify", "reverse-order", "--target", f.url, "--target-keys", f.keys, "--timeout", "60s",
			"--provider", "openai-demo="+freePort(t)+",anthropic-demo="+freePort(t))
		if code != 3 || !strings.Contains(said, "does not ask openai-demo") {
			t.Errorf("exit %d: %s", code, said)
		}
	})
	t.Run("of which nobody has an operator's key", func(t *testing.T) {
		keys, err := os.ReadFile(f.keys)
		if err != nil {
			t.Fatal(err)
		}
		without := filepath.Join(t.TempDir(), "keys")
		write(t, without, string(regexp.MustCompile(`(?m)^ops operator .*\n`).ReplaceAll(keys, nil)))
		args := []string{"--target", f.url, "--target-keys", without, "--provider", strings.Join(f.providers, ",")}
		code, said := interlock(t, append([]string{"verify", "double-click", "reverse-order"}, args...)...)
		if code != 0 || !strings.Contains(said, "1 pass, 0 violations, 0 inconclusive") || !strings.Contains(oneLine(said), "needs an operator's key of the target") {
			t.Errorf("exit %d: %s", code, said)
		}
		code, said = interlock(t, append([]string{"verify", "reverse-order"}, args...)...)
		if code != 2 || !strings.Contains(oneLine(said), "needs an operator's key of the target") {
			t.Errorf("exit %d: %s", code, said)
		}
	})
	t.Run("whose keys are wrong", func(t *testing.T) {
		wrong := filepath.Join(t.TempDir(), "keys")
		write(t, wrong, "ada owner x\nbob owner y\n")
		code, said := interlock(t, "verify", "double-click", "--target", f.url, "--target-keys", wrong)
		if code != 3 || !strings.Contains(said, "does not speak the contract, or not with these keys and this adapter: it refuses a plain submit with 401") {
			t.Errorf("exit %d: %s", code, said)
		}
	})
}

// tasksAdapter says how the service of tasks words the contract.
const tasksAdapter = `
name: tasks
paths:
  submit: PUT /tasks
  get: GET /tasks/{id}
  races: "-"
headers:
  key: X-Request-Key
submit: '{"what":{{input}},"by":{{provider}},"as":{{contract}},"until_ms":{{deadline_ms}}}'
fields:
  id: /task/uuid
  status: /task/phase
statuses:
  done: succeeded
  broken: failed
problem_fields:
  type: /error/code
reasons:
  key_taken: idempotency-key-reused
  "404": not-found
conflict_status: 422
`

// tasks is the service under other words, as a third party might have it.
func tasks(t *testing.T, base string) string {
	words := map[string]string{"succeeded": "done", "failed": "broken"}
	return rewriting(t, base, func(r *http.Request) {
		if r.Method == http.MethodPut {
			var own struct{ What, By, As, UntilMS json.RawMessage }
			var fields map[string]json.RawMessage
			body, _ := io.ReadAll(r.Body)
			_ = json.Unmarshal(body, &fields)
			own.What, own.By, own.As, own.UntilMS = fields["what"], fields["by"], fields["as"], fields["until_ms"]
			r.Method = http.MethodPost
			body = fmt.Appendf(nil, `{"intent":{"contract":%s,"provider":%s,"input":%s,"deadline_ms":%s}}`, own.As, own.By, own.What, own.UntilMS)
			r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
			r.Header.Set("Content-Length", fmt.Sprint(len(body)))
			r.Header.Set("Idempotency-Key", r.Header.Get("X-Request-Key"))
		}
		r.URL.Path = strings.Replace(r.URL.Path, "/tasks", "/v1/jobs", 1)
	}, func(r *http.Response, body map[string]any) map[string]any {
		if r.StatusCode >= 400 {
			code := "other"
			if r.StatusCode == http.StatusConflict {
				r.StatusCode, code = 422, "key_taken"
			}
			return map[string]any{"error": map[string]any{"code": code}}
		}
		if status, ok := body["status"].(string); ok {
			phase := status
			if own := words[status]; own != "" {
				phase = own
			}
			return map[string]any{"task": map[string]any{"uuid": body["id"], "phase": phase}}
		}
		return body
	})
}

// careless is the service behind something that gives each request a key of its
// own.
func careless(t *testing.T, base string) string {
	var n atomic.Int64
	return rewriting(t, base, func(r *http.Request) {
		if r.Method == http.MethodPost {
			r.Header.Set("Idempotency-Key", fmt.Sprintf("%s-%d-%d", r.Header.Get("Idempotency-Key"), n.Add(1), time.Now().UnixNano()))
		}
	}, nil)
}

// rewriting is a proxy in front of base that changes requests and answers.
func rewriting(t *testing.T, base string, request func(*http.Request), answer func(*http.Response, map[string]any) map[string]any) string {
	to, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(p *httputil.ProxyRequest) { p.SetURL(to); request(p.Out) },
		ModifyResponse: func(r *http.Response) error {
			if answer == nil {
				return nil
			}
			text, err := io.ReadAll(r.Body)
			if err != nil {
				return err
			}
			var body map[string]any
			if json.Unmarshal(text, &body) == nil {
				text, _ = json.Marshal(answer(r, body))
			}
			r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
			r.Header.Set("Content-Length", fmt.Sprint(len(text)))
			return nil
		},
	}
	server := httptest.NewServer(proxy)
	t.Cleanup(server.Close)
	return server.URL
}
