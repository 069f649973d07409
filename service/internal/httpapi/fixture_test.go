package httpapi_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/interlock-harness/interlock/service/internal/httpapi"
	"github.com/interlock-harness/interlock/service/internal/job"
	"github.com/interlock-harness/interlock/service/internal/mutant"
	"github.com/interlock-harness/interlock/service/internal/pgtest"
	"github.com/interlock-harness/interlock/service/internal/postgres"
)

func TestMain(m *testing.M) {
	os.Exit(pgtest.Main(m, func() error {
		if everybodys.stop == nil {
			return nil
		}
		return everybodys.stop()
	}))
}

// toAnswer bounds every wait for an answer that is not about slowness.
const toAnswer = 10 * time.Second

// fixture is a real server on a real port over a real database.
type fixture struct {
	addr   string
	url    string // of the database
	store  *postgres.Store
	gate   *gate
	logs   *logBuffer
	stop   func() error
	owners atomic.Int64
}

type option func(*httpapi.Config)

func withLimits(change func(*httpapi.Limits)) option {
	return func(c *httpapi.Config) { change(&c.Limits) }
}

func withMutant(t testing.TB, name string) option {
	active, err := mutant.Choose(name)
	if err != nil {
		t.Fatal(err)
	}
	return func(c *httpapi.Config) { c.Mutant = active }
}

// shared is a server for the tests that need no more than owners of their own.
func shared(t testing.TB) *fixture {
	t.Helper()
	everybodys.once.Do(func() {
		name, err := pgtest.Server(t).Create(context.Background(), "")
		if err != nil {
			t.Fatal(err)
		}
		url := pgtest.Server(t).URL(name)
		f, closed := start(t, url, nil)
		everybodys.fixture = f
		everybodys.stop = func() error { defer closed(); return f.stop() }
	})
	if everybodys.fixture == nil {
		t.Fatal("the shared server did not start")
	}
	return everybodys.fixture
}

var everybodys struct {
	once    sync.Once
	fixture *fixture
	stop    func() error
}

// serve starts a server over a fresh database.
func serve(t testing.TB, options ...option) *fixture {
	t.Helper()
	return serveOver(t, pgtest.Database(t), options...)
}

// serveOver starts one more server over the database at url.
func serveOver(t testing.TB, url string, options ...option) *fixture {
	t.Helper()
	return served(t, url, nil, options...)
}

// served is serveOver with a store that shows its statements to tracer.
func served(t testing.TB, url string, tracer pgx.QueryTracer, options ...option) *fixture {
	t.Helper()
	f, closed := start(t, url, tracer, options...)
	t.Cleanup(func() {
		if err := f.stop(); err != nil {
			t.Errorf("the server did not drain: %v", err)
		}
		closed()
	})
	return f
}

// start sets a server up; the caller stops it and then closes its store.
func start(t testing.TB, url string, tracer pgx.QueryTracer, options ...option) (*fixture, func()) {
	t.Helper()
	f := &fixture{url: url, gate: &gate{}, logs: &logBuffer{}}
	log := slog.New(slog.NewJSONHandler(f.logs, &slog.HandlerOptions{Level: slog.LevelDebug}))
	store, err := postgres.New(context.Background(), url, postgres.Options{Failover: f.gate, Log: log, Tracer: tracer})
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	f.store = store
	config := httpapi.Config{
		Store: store, Contracts: contracts{}, Providers: known{"openai-demo", "anthropic-demo", "q"}, Gate: f.gate,
		Limits: httpapi.DefaultLimits(), Log: log,
	}
	for _, o := range options {
		o(&config)
	}
	server := httpapi.New(config)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f.addr = ln.Addr().String()
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- server.Serve(ctx, ln, 5*time.Second) }()
	f.stop = sync.OnceValue(func() error { cancel(); return <-served })
	return f, store.Close
}

// owner is a new owner with one key of each role.
type owner struct {
	name     job.Owner
	key      string // role owner
	operator string // role operator
}

func (f *fixture) owner(t testing.TB) owner {
	t.Helper()
	n := f.owners.Add(1)
	o := owner{name: job.Owner(fmt.Sprintf("o-%d", n)), key: fmt.Sprintf("key-of-o-%d", n), operator: fmt.Sprintf("operator-key-%d", n)}
	err := f.store.PutCredentials(t.Context(), []job.Credential{
		{Owner: o.name, Role: job.RoleOwner, SHA256: sha256.Sum256([]byte(o.key))},
		{Owner: o.name, Role: job.RoleOperator, SHA256: sha256.Sum256([]byte(o.operator))},
	})
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// revoke makes a key useless, as when its line leaves the list of keys.
func (f *fixture) revoke(t testing.TB, key string) {
	t.Helper()
	sum := sha256.Sum256([]byte(key))
	if n := sql[int](t, f, "WITH r AS (UPDATE credentials SET revoked_at = now() WHERE sha256 = $1 RETURNING 1) SELECT count(*) FROM r", sum[:]); n != 1 {
		t.Fatalf("%d keys were revoked", n)
	}
}

// connect makes a connection to the database beside the service, for this test.
func (f *fixture) connect(t testing.TB) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), f.url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

// sql reads one value from the database, beside the service.
func sql[T any](t testing.TB, f *fixture, query string, args ...any) T {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), f.url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	var v T
	if err := conn.QueryRow(t.Context(), query, args...).Scan(&v); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return v
}

func (f *fixture) jobs(t testing.TB, o owner) int {
	t.Helper()
	return sql[int](t, f, "SELECT count(*) FROM jobs WHERE owner = $1", o.name)
}

// goodBody is an intent that can be carried out; text makes it another one.
func goodBody(text string) string {
	return `{"intent":{"contract":"triage","provider":"openai-demo","input":{"text":` + quoteJSON(text) + `}}}`
}

func quoteJSON(s string) string {
	text, _ := json.Marshal(s)
	return string(text)
}

// post is a complete submit as raw bytes; headers are further lines.
func post(o owner, body string, headers ...string) string {
	return request("POST", "/v1/jobs", o.key, body, append([]string{"Content-Type: application/json"}, headers...)...)
}

// request writes a request byte by byte, as tests want it.
func request(method, target, key, body string, headers ...string) string {
	text := method + " " + target + " HTTP/1.1\r\nHost: interlock.test\r\n"
	if key != "" {
		text += "Authorization: Bearer " + key + "\r\n"
	}
	for _, h := range headers {
		text += h + "\r\n"
	}
	if body != "" {
		text += fmt.Sprintf("Content-Length: %d\r\n", len(body))
	}
	return text + "\r\n" + body
}

// answer is one response, and whether the server closed the connection after it.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// problem is the last part of a problem's type; empty when it is none.
func (a answer) problem() string {
	if a.header.Get("Content-Type") != "application/problem+json" {
		return ""
	}
	var p struct{ Type string }
	_ = json.Unmarshal(a.body, &p)
	return strings.TrimPrefix(p.Type, "/problems/")
}

func (a answer) field(t testing.TB, name string) string {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal(a.body, &v); err != nil {
		t.Fatalf("the answer is not an object: %v: %s", err, a.body)
	}
	if v[name] == nil {
		return ""
	}
	return fmt.Sprint(v[name])
}

// exchange writes raw bytes on a new connection and reads answers until the
// server closes it, or, after as many as expected, nothing more comes for quiet.
// half closes our side after the last byte.
type exchange struct {
	raw      string
	half     bool
	expected int // default 1
	quiet    time.Duration
	only     bool // do not look for more than expected
}

func (f *fixture) exchange(t testing.TB, x exchange) (answers []answer, closed bool) {
	t.Helper()
	conn, err := net.DialTimeout("tcp", f.addr, toAnswer)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	written := make(chan struct{})
	go func() { // a server that refuses early does not read to the end
		defer close(written)
		_, _ = io.WriteString(conn, x.raw)
		if x.half {
			_ = conn.(*net.TCPConn).CloseWrite()
		}
	}()
	if x.quiet == 0 {
		x.quiet = 50 * time.Millisecond
	}
	r := bufio.NewReader(conn)
	for {
		wait := x.quiet
		if len(answers) < max(x.expected, 1) {
			wait = toAnswer
		}
		_ = conn.SetReadDeadline(time.Now().Add(wait))
		if _, err := r.Peek(1); err != nil {
			<-written
			return answers, !errors.Is(err, os.ErrDeadlineExceeded)
		}
		_ = conn.SetReadDeadline(time.Now().Add(toAnswer))
		a, err := readAnswer(r, x.raw)
		if err != nil {
			t.Fatalf("the answer cannot be read: %v", err)
		}
		answers = append(answers, a)
		if x.only && len(answers) == max(x.expected, 1) {
			return answers, false
		}
		if a.header.Get("Connection") == "close" {
			x.quiet = toAnswer // it must close now
		}
	}
}

// readAnswer reads one response to its end from a shared reader.
func readAnswer(r *bufio.Reader, sent string) (answer, error) {
	asked := &http.Request{Method: "GET"}
	if strings.HasPrefix(sent, "HEAD ") {
		asked.Method = "HEAD" // its answer has a length and no body
	}
	resp, err := http.ReadResponse(r, asked)
	if err != nil {
		return answer{}, err
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return answer{}, err
	}
	return answer{status: resp.StatusCode, header: resp.Header, body: body}, nil
}

// call sends one well-formed request and returns its one answer.
func (f *fixture) call(t testing.TB, raw string) answer {
	t.Helper()
	answers, _ := f.exchange(t, exchange{raw: raw, only: true})
	if len(answers) != 1 {
		t.Fatalf("%d answers to one request", len(answers))
	}
	f.holds(t, answers[0], raw)
	return answers[0]
}

// submit makes a job and returns its id.
func (f *fixture) submit(t testing.TB, o owner, key, text string) string {
	t.Helper()
	a := f.call(t, post(o, goodBody(text), "Idempotency-Key: "+key))
	if a.status != http.StatusCreated {
		t.Fatalf("submit: %d %s", a.status, a.body)
	}
	return a.field(t, "id")
}

// logBuffer keeps what the server logs.
type logBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}
