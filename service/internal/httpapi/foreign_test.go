package httpapi_test

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/interlock-harness/interlock/service/internal/httpapi"
	"github.com/interlock-harness/interlock/service/internal/job"
	"github.com/interlock-harness/interlock/service/internal/pgtest"
)

// TestAnotherOwnersJobIsNotThere goes through every route with an id, as its
// owner, as another owner, and with a random id. It is written from the route
// table, so that a new route is in it. (D04, D05)
func TestAnotherOwnersJobIsNotThere(t *testing.T) {
	f := serve(t)
	a, b := f.owner(t), f.owner(t)
	id := f.submit(t, a, "d04", "canary")
	events := sql[int](t, f, "SELECT count(*) FROM attempt_events")
	random := uuid.NewString()
	tried := 0
	for _, r := range httpapi.RouteNames() {
		method, path, _ := strings.Cut(r, " ")
		if !strings.Contains(path, "{id}") {
			continue
		}
		tried++
		ask := func(id string) answer {
			target := strings.NewReplacer("{id}", id, "{n}", "1").Replace(path)
			body, lines := "", []string{"Content-Type: application/json", "Idempotency-Key: foreign"}
			if method == "POST" {
				body = `{}`
			} else {
				lines = lines[1:]
			}
			return f.call(t, request(method, target, b.key, body, lines...))
		}
		foreign, none := ask(id), ask(random)
		if foreign.status != 404 || none.status != 404 || foreign.problem() != "not-found" {
			t.Errorf("%s: %d for another owner's, %d for a random id, want 404", r, foreign.status, none.status)
		}
		if operators := strings.Contains(path, "{n}"); operators { // one's own is there, and takes a role
			target := strings.NewReplacer("{id}", id, "{n}", "1").Replace(path)
			if mine := f.call(t, request(method, target, a.key, `{}`, "Content-Type: application/json")); mine.status != 403 || mine.problem() != "role-required" {
				t.Errorf("%s: the owner gets %d %s, want 403", r, mine.status, mine.body)
			}
			if bad := f.call(t, request(method, strings.Replace(target, id, "x", 1), a.key, `{}`, "Content-Type: application/json")); bad.status != 400 || bad.problem() != "id-invalid" {
				t.Errorf("%s: a malformed id gets %d %s", r, bad.status, bad.body)
			}
		}
		if string(foreign.body) != string(none.body) || !sameHeaders(foreign, none) {
			t.Errorf("%s: the answers differ:\n%v %s\n%v %s", r, foreign.header, foreign.body, none.header, none.body)
		}
	}
	if tried < 8 {
		t.Fatalf("only %d routes have an id", tried)
	}
	races := f.call(t, request("GET", "/v1/races?job="+id, b.key, ""))
	none := f.call(t, request("GET", "/v1/races?job="+random, b.key, ""))
	if races.status != 404 || string(races.body) != string(none.body) {
		t.Errorf("races: %d %s", races.status, races.body)
	}
	if now := sql[int](t, f, "SELECT count(*) FROM attempt_events"); now != events {
		t.Errorf("%d events were written", now-events)
	}
	if mine := f.call(t, request("GET", "/v1/jobs/"+id, a.key, "")); mine.status != 200 || mine.field(t, "status") != "starting" {
		t.Errorf("the owner finds %d %s", mine.status, mine.body)
	}
}

// sent is a tracer that lists the statements of a store, but for those about keys.
type sent struct {
	mu         sync.Mutex
	statements []string
}

func (s *sent) TraceQueryStart(ctx context.Context, _ *pgx.Conn, d pgx.TraceQueryStartData) context.Context {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !strings.Contains(d.SQL, "credentials") { // who asks is looked up anew every few seconds, whatever is asked for
		s.statements = append(s.statements, d.SQL)
	}
	return ctx
}

func (s *sent) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

func (s *sent) since(n int) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.statements[n:])
}

// TestAnotherOwnersIDTakesTheSamePath shows why the two 404 take the same time:
// for another owner's id the database is asked exactly what it is asked for an id
// that nobody has, whatever became of that job. The owner stands in each statement.
func TestAnotherOwnersIDTakesTheSamePath(t *testing.T) { // D04
	seen := &sent{}
	f := served(t, pgtest.Database(t), seen)
	a, b := f.owner(t), f.owner(t)
	theirs := map[string]string{}
	for _, state := range []job.State{"starting", "running", "unknown", "failed", "succeeded", "cancelled"} {
		theirs[string(state)] = f.submit(t, a, string(state), string(state))
		f.bring(t, theirs[string(state)], state)
	}
	purged := f.submit(t, a, "purged", "purged")
	f.bring(t, purged, "succeeded")
	if n, err := f.store.Purge(t.Context(), 0, 10); err != nil || n == 0 {
		t.Fatal(n, err)
	}
	theirs["purged"] = purged
	f.call(t, request("GET", "/v1/jobs", b.key, "")) // b's key is known from here on
	last := len(seen.since(0))
	own := f.submit(t, b, "own", "own")
	eventually(t, "the hint to the workers was sent", func() bool {
		all := seen.since(last)
		return strings.Contains(strings.Join(all, ""), "pg_notify") && all[len(all)-1] == "commit"
	})
	elsewhere := 0 // routes that do something else for an own id
	targets := []string{"GET /v1/races?job={id}"}
	for _, r := range httpapi.RouteNames() {
		if strings.Contains(r, "{id}") {
			targets = append(targets, r)
		}
	}
	for _, r := range targets {
		method, path, _ := strings.Cut(r, " ")
		ask := func(id string) (status int, statements []string) {
			target, body, lines := strings.NewReplacer("{id}", id, "{n}", "1").Replace(path), "", []string{}
			if method == "POST" {
				body, lines = `{}`, []string{"Content-Type: application/json", "Idempotency-Key: foreign"}
			}
			from := len(seen.since(0))
			status = f.call(t, request(method, target, b.key, body, lines...)).status
			return status, seen.since(from)
		}
		_, want := ask(uuid.NewString())
		if len(want) == 0 {
			t.Errorf("%s of a random id asks the database nothing: this shows nothing", r)
		}
		if _, mine := ask(own); !slices.Equal(mine, want) {
			elsewhere++
		}
		for state, id := range theirs {
			if status, got := ask(id); status != 404 || !slices.Equal(got, want) {
				t.Errorf("%s of another owner's job that is %s: %d after\n%q\nwant 404 after\n%q", r, state, status, got, want)
			}
		}
	}
	if elsewhere == 0 {
		t.Error("no route does anything else for an own id: the statements are not seen")
	}
}

var perRequest = regexp.MustCompile(`^(X-Request-Id|Traceparent|Date)$`)

func sameHeaders(a, b answer) bool {
	clean := func(h http.Header) string {
		h = h.Clone()
		for name := range h {
			if perRequest.MatchString(name) {
				h.Del(name)
			}
		}
		return fmt.Sprint(h)
	}
	return clean(a.header) == clean(b.header)
}
