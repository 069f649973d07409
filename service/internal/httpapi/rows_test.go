package httpapi_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/interlock-harness/interlock/docs/problems"
	"github.com/interlock-harness/interlock/service/internal/httpapi"
)

// row is one bad input with its right answer, sent as raw bytes. In raw KEY
// stands for a valid API key of a fresh owner.
type row struct {
	id     string // of the catalogue of bad inputs
	name   string
	raw    string
	half   bool     // close our side after the last byte
	want   []string // of each answer: status, and the problem's type where it is one
	closed bool     // the server closes the connection
	jobs   int      // rows afterwards
	slow   bool     // about slowness: may take longer than a second
	key    string   // idempotency key that must be free afterwards; "" where none was sent
}

// run sends the row and checks its answer and what holds for every row.
func (r row) run(t *testing.T, f *fixture) {
	t.Parallel()
	o := f.owner(t)
	x := exchange{raw: strings.ReplaceAll(r.raw, "KEY", o.key), half: r.half, expected: len(r.want)}
	if r.closed {
		x.quiet = toAnswer
	}
	begun := time.Now()
	answers, closed := f.exchange(t, x)
	took := time.Since(begun)
	var got []string
	for _, a := range answers {
		f.holds(t, a, x.raw)
		got = append(got, strings.TrimSpace(fmt.Sprintf("%d %s", a.status, a.problem())))
	}
	if !slices.Equal(got, r.want) {
		t.Fatalf("answers %q, want %q", got, r.want)
	}
	if r.closed && !closed {
		t.Error("the connection stays open")
	}
	if !r.slow && took > time.Second+500*time.Millisecond { // half a second is Go's linger before it closes
		t.Errorf("it took %s", took)
	}
	if n := f.jobs(t, o); n != r.jobs {
		t.Errorf("%d jobs, want %d", n, r.jobs)
	}
	if r.key != "" && r.jobs == 0 {
		again := f.call(t, post(o, goodBody("after "+r.id), "Idempotency-Key: "+r.key))
		if again.status != http.StatusCreated {
			t.Errorf("the key was consumed: a good request with it gives %d %s", again.status, again.body)
		}
	}
}

// holds checks what every answer keeps, whatever the row.
func (f *fixture) holds(t testing.TB, a answer, sent string) {
	t.Helper()
	if a.header.Get("X-Request-Id") == "" || a.header.Get("Traceparent") == "" {
		t.Errorf("X-Request-Id or traceparent is absent: %v", a.header)
	}
	if l := a.header.Get("Location"); l != "" && !strings.HasPrefix(l, "/v1/jobs/") {
		t.Errorf("Location %q is not relative", l)
	}
	declared(t, a, sent)
	if a.status < 400 {
		return
	}
	if a.status == http.StatusServiceUnavailable && a.problem() == "" {
		validate(t, "Readiness", a.body)
		return
	}
	if a.problem() == "" {
		t.Errorf("%d is no problem document: %v %s", a.status, a.header, a.body)
		return
	}
	if len(a.body) == 0 {
		return // HEAD
	}
	validate(t, "Problem", a.body)
	if want := fmt.Sprintf("</problems/%s>; rel=\"describedby\"", a.problem()); a.header.Get("Link") != want {
		t.Errorf("Link is %q, want %q", a.header.Get("Link"), want)
	}
	if _, err := problems.FS.ReadFile(a.problem() + ".md"); err != nil {
		t.Errorf("there is no page for %s", a.problem())
	}
	for _, leak := range []string{"SELECT", "INSERT", "pgconn", "goroutine", ".go:", "/work", "/home", "key-of-o-", "operator-key-", "canary"} {
		if bytes.Contains(a.body, []byte(leak)) {
			t.Errorf("the answer tells %q: %s", leak, a.body)
		}
	}
	// No 65 bytes of the request in a row.
	for i := 0; i+65 <= len(a.body); i++ {
		if strings.Contains(sent, string(a.body[i:i+65])) {
			t.Errorf("the answer repeats more than 64 bytes: %s", a.body)
			break
		}
	}
}

// schema compiles one schema of the OpenAPI document, once.
func schema(t testing.TB, name string) *jsonschema.Schema {
	t.Helper()
	if s, ok := compiled.Load(name); ok {
		return s.(*jsonschema.Schema)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat = true
	c.LoadURL = func(string) (io.ReadCloser, error) { return nil, fmt.Errorf("nothing is loaded") }
	if err := c.AddResource("openapi.json", bytes.NewReader(httpapi.OpenAPI())); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("openapi.json#/components/schemas/" + name)
	if err != nil {
		t.Fatal(err)
	}
	compiled.Store(name, s)
	return s
}

var compiled sync.Map

// validate checks a body against a schema of the OpenAPI document.
func validate(t testing.TB, name string, body []byte) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Errorf("not JSON: %v: %s", err, body)
		return
	}
	if err := schema(t, name).Validate(v); err != nil {
		t.Errorf("not a %s: %v: %s", name, err, body)
	}
}

// contract is the OpenAPI document as a client reads it.
var contract = sync.OnceValue(func() (doc struct {
	Paths      map[string]map[string]operation
	Components struct {
		Responses map[string]response
	}
}) {
	if err := json.Unmarshal(httpapi.OpenAPI(), &doc); err != nil {
		panic(err)
	}
	return doc
})

type operation struct {
	Responses map[string]response
}

type response struct {
	Ref      string   `json:"$ref"`
	Problems []string `json:"x-problems"`
}

var requestLine = regexp.MustCompile(`^([A-Z]+) (/[^ ?]*)(\?[^ ]*)? HTTP/1\.[01]\r\n`)

// declared checks that the document promises this answer of this route.
func declared(t testing.TB, a answer, sent string) {
	t.Helper()
	line := requestLine.FindStringSubmatch(sent)
	if line == nil {
		return
	}
	doc := contract()
	for path, methods := range doc.Paths {
		pattern := regexp.MustCompile("^" + regexp.MustCompile(`\\\{\w+\\\}`).ReplaceAllString(regexp.QuoteMeta(path), "[^/]+") + "$")
		op, ok := methods[strings.ToLower(strings.Replace(line[1], "HEAD", "GET", 1))]
		if !ok || !pattern.MatchString(line[2]) {
			continue
		}
		r, ok := op.Responses[fmt.Sprint(a.status)]
		if !ok {
			t.Errorf("%s %s answers %d, which the document does not promise", line[1], path, a.status)
			return
		}
		if name, ok := strings.CutPrefix(r.Ref, "#/components/responses/"); ok {
			r = doc.Components.Responses[name]
		}
		if p := a.problem(); p != "" && !slices.Contains(r.Problems, "/problems/"+p) {
			t.Errorf("%s %s answers %s, which the document does not promise", line[1], path, p)
		}
		return
	}
}
