package target_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/interlock-harness/interlock/harness/history"
	"github.com/interlock-harness/interlock/harness/target"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const toFinish = 30 * time.Second

func bounded(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), toFinish)
	t.Cleanup(cancel)
	return ctx
}

// serve runs a target whose answers a test writes by hand.
func serve(t *testing.T, answer http.HandlerFunc) (*httptest.Server, *history.Recorder, *target.Client) {
	s := httptest.NewServer(answer)
	t.Cleanup(s.Close)
	rec := history.New()
	return s, rec, target.New(target.Options{Actor: "client-1", BaseURL: s.URL, Owner: "o-1", APIKey: "secret", Recorder: rec})
}

// only is the one operation of a history.
func only(t *testing.T, rec *history.Recorder) history.Operation {
	t.Helper()
	ops := history.Operations(rec.Events())
	if len(ops) != 1 {
		t.Fatalf("%d operations in the history, want 1", len(ops))
	}
	return ops[0]
}

func TestSubmitSendsTheContractAndRecordsBothEnds(t *testing.T) {
	type request struct {
		method, path, key, auth, kind, body string
	}
	var got request
	_, rec, client := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got = request{r.Method, r.URL.RequestURI(), r.Header.Get("Idempotency-Key"), r.Header.Get("Authorization"), r.Header.Get("Content-Type"), string(body)}
		w.Header().Set("Idempotency-Replayed", "true")
		w.Header().Set(target.ServedBy, "api-2")
		_, _ = io.WriteString(w, `{"id":"j-1","key":"k-1","status":"running","version":1,"attempts":1,"more":true}`)
	})
	job, err := client.Submit(bounded(t), "k-1", target.Intent{Contract: "triage", Provider: "openai-demo", Input: map[string]any{"text": "x"}})
	if err != nil {
		t.Fatal(err)
	}
	want := request{"POST", "/v1/jobs", "k-1", "Bearer secret", "application/json", `{"intent":{"contract":"triage","provider":"openai-demo","input":{"text":"x"}}}`}
	if got != want {
		t.Errorf("sent %+v, want %+v", got, want)
	}
	if job.ID != "j-1" || !job.Replayed || job.Attempts != 1 || job.Answer.Status != 200 || job.Replica != "api-2" {
		t.Errorf("read %+v", job)
	}
	op := only(t, rec)
	var sent history.SubmitFacts
	if err := op.Invoke.Decode(&sent); err != nil || string(sent.Intent) != `{"contract":"triage","provider":"openai-demo","input":{"text":"x"}}` {
		t.Errorf("recorded intent %s, %v", sent.Intent, err)
	}
	var said history.Job
	if err := op.End.Decode(&said); err != nil || !said.Replayed || said.Replica != "api-2" {
		t.Errorf("recorded answer %+v, %v", said, err)
	}
	if op.Invoke.Owner != "o-1" || op.Invoke.Key != "k-1" || op.End.Job != "j-1" || op.Kind() != history.OK || op.End.Status != 200 {
		t.Errorf("recorded %+v then %+v", op.Invoke, op.End)
	}
	if err := rec.Flush(); err != nil {
		t.Error(err)
	}
}

func TestOutcomesAreNeverGuessed(t *testing.T) {
	problem := `{"type":"/problems/attempt-in-flight","title":"x","status":409,"attempt_id":"a-1","state":"unknown"}`
	for name, c := range map[string]struct {
		answer  http.HandlerFunc
		kind    history.Kind
		status  int
		unknown bool
	}{
		"a refusal":                  {write(409, problem), history.Fail, 409, false},
		"a refusal that is no JSON":  {write(404, "<html>"), history.Fail, 404, false},
		"too late to say":            {write(408, ""), history.Info, 408, true},
		"an error of the server":     {write(500, problem), history.Info, 500, true},
		"a gateway that lost it":     {write(504, ""), history.Info, 504, true},
		"a success that is no JSON":  {write(201, "created"), history.Info, 201, true},
		"a success that is a list":   {write(201, "[]"), history.Info, 201, true},
		"a success of another shape": {write(201, `{"id":7}`), history.Info, 201, true},
		"a redirect":                 {write(302, ""), history.Info, 302, true},
		"half an answer":             {half, history.Info, 200, true},
		"no answer":                  {abort, history.Info, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			_, rec, client := serve(t, c.answer)
			_, err := client.StartAttempt(bounded(t), "j-1", "t-1", "")
			if err == nil || target.IsUnknown(err) != c.unknown {
				t.Errorf("error is %v, want unknown: %v", err, c.unknown)
			}
			if op := only(t, rec); op.Kind() != c.kind || op.End.Status != c.status {
				t.Errorf("recorded %s %d, want %s %d", op.Kind(), op.End.Status, c.kind, c.status)
			}
			if err := rec.Flush(); err != nil {
				t.Error(err)
			}
		})
	}
}

func write(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

func half(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Length", "100")
	_, _ = io.WriteString(w, `{"id":`)
	_ = http.NewResponseController(w).Flush()
	panic(http.ErrAbortHandler)
}

func abort(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

func TestRefusalSaysItsReason(t *testing.T) {
	_, _, client := serve(t, write(409, `{"type":"https://x/problems/attempt-in-flight","attempt_id":"a-1"}`))
	_, err := client.StartAttempt(bounded(t), "j-1", "t-1", "openai-demo")
	if !errors.Is(err, target.Reason("attempt-in-flight")) || errors.Is(err, target.Reason("job-terminal")) {
		t.Errorf("error is %v", err)
	}
	refused, ok := errors.AsType[*target.Refused](err)
	if !ok || refused.Problem.AttemptID != "a-1" || refused.Status != 409 {
		t.Errorf("refusal is %+v", refused)
	}
}

func TestEveryCallSaysWhatItIs(t *testing.T) {
	ctx := bounded(t)
	for want, call := range map[string]func(*target.Client) error{
		"GET /v1/jobs/j%2F1 get": func(c *target.Client) error { _, err := c.Job(ctx, "j/1"); return err },
		"GET /v1/jobs?key=a+b list": func(c *target.Client) error {
			_, err := c.Jobs(ctx, "a b")
			return err
		},
		"POST /v1/jobs/j-1/cancel cancel {\"reason\":\"r\"}": func(c *target.Client) error {
			_, err := c.CancelJob(ctx, "j-1", "r")
			return err
		},
		"POST /v1/jobs/j-1/attempts start t-1 {\"provider\":\"p\"}": func(c *target.Client) error {
			_, err := c.StartAttempt(ctx, "j-1", "t-1", "p")
			return err
		},
		"GET /v1/jobs/j-1/attempts attempts": func(c *target.Client) error { _, err := c.Attempts(ctx, "j-1"); return err },
		"GET /v1/jobs/j-1/events events":     func(c *target.Client) error { _, err := c.Events(ctx, "j-1"); return err },
		"GET /v1/races?job=j-1 races":        func(c *target.Client) error { _, err := c.Races(ctx, "j-1"); return err },
		"POST /v1/jobs/j-1/attempts/2/cancel cancel-attempt {\"reason\":\"r\"}": func(c *target.Client) error {
			_, err := c.CancelAttempt(ctx, "j-1", 2, "r")
			return err
		},
		"POST /v1/jobs/j-1/attempts/2/release release {\"reason\":\"r\"}": func(c *target.Client) error {
			_, err := c.Release(ctx, "j-1", 2, "r")
			return err
		},
		"POST /v1/jobs/j-1/attempts/2/resolve resolve {\"outcome\":\"failed\",\"evidence\":\"e\"}": func(c *target.Client) error {
			_, err := c.Resolve(ctx, "j-1", 2, target.Resolution{Outcome: "failed", Evidence: "e"})
			return err
		},
		"GET /v1/failover?contract=c&from=a&to=b failover": func(c *target.Client) error {
			_, err := c.Failover(ctx, "a", "b", "c")
			return err
		},
		"DELETE /x?y=1 raw body": func(c *target.Client) error {
			_, err := c.Raw(ctx, "DELETE", "/x?y=1", []byte("body"))
			return err
		},
	} {
		var got string
		_, rec, client := serve(t, func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			got = strings.TrimSpace(fmt.Sprintf("%s %s %s", r.Header.Get("Idempotency-Key"), "", string(body)))
			got = r.Method + " " + r.RequestURI + " OP " + got
			_, _ = io.WriteString(w, "{}")
		})
		if err := call(client); err != nil {
			t.Errorf("%s: %v", want, err)
		}
		got = strings.Join(strings.Fields(strings.Replace(got, "OP", only(t, rec).Invoke.Op, 1)), " ")
		if got != want {
			t.Errorf("sent %s\nwant %s", got, want)
		}
	}
}

// TestOnlyACarelessClientIsReplayed sends a keyed POST over a connection that
// dies: Go's transport sends it again, unless the client is ours.
func TestOnlyACarelessClientIsReplayed(t *testing.T) {
	for _, careless := range []bool{false, true} {
		var executed atomic.Int64
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			if executed.Add(1) == 2 {
				panic(http.ErrAbortHandler) // done, and the answer is lost
			}
			_, _ = io.WriteString(w, `{"id":"j-1"}`)
		})}
		done := make(chan struct{})
		go func() { defer close(done); _ = server.Serve(l) }()
		client := target.New(target.Options{Actor: "c", BaseURL: "http://" + l.Addr().String(), Reuse: careless})
		ctx := bounded(t)
		if _, err := client.Submit(ctx, "k-1", target.Intent{}); err != nil {
			t.Fatal(err)
		}
		_, err = client.Submit(ctx, "k-2", target.Intent{})
		want := int64(2)
		if careless {
			want = 3
		}
		if (err == nil) != careless || executed.Load() != want {
			t.Errorf("careless %v: executed %d times, want %d; error %v", careless, executed.Load(), want, err)
		}
		client.Close()
		_ = server.Close()
		<-done
	}
}

func TestAdapterSpeaksTheTargetsWords(t *testing.T) {
	var got string
	s, rec, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got = fmt.Sprint(r.Method, " ", r.URL.Path, " ", r.Header.Get("X-Request-Token"), " ", r.Header.Get("X-Api-Key"), " ", string(body))
		w.Header().Set("X-Repeated", "TRUE")
		_, _ = io.WriteString(w, `{"data":{"uuid":"j-9","phase":"DONE","rev":3}}`)
	})
	adapter, err := target.ParseAdapter([]byte(`
name: their service
paths:
  submit: PUT /tasks
headers:
  key: X-Request-Token
  replayed: X-Repeated
  authorization: X-Api-Key
  scheme: none
fields:
  id: /data/uuid
  status: /data/phase
  version: /data/rev
statuses:
  DONE: succeeded
conflict_status: 422
submit: '{"task": {{intent}}, "kind": "demo"}'
`))
	if err != nil {
		t.Fatal(err)
	}
	client := target.New(target.Options{Actor: "c", BaseURL: s.URL, APIKey: "secret", Recorder: rec, Adapter: adapter})
	job, err := client.Submit(bounded(t), "k-1", target.Intent{Contract: "triage"})
	if err != nil {
		t.Fatal(err)
	}
	want := `PUT /tasks k-1 secret {"task": {"contract":"triage","provider":"","input":null}, "kind": "demo"}`
	if got != want {
		t.Errorf("sent %s\nwant %s", got, want)
	}
	if job.ID != "j-9" || job.Status != "succeeded" || job.Version != 3 || !job.Replayed || adapter.Conflict() != 422 {
		t.Errorf("read %+v", job)
	}
}

func TestAdapterSaysWhatIsWrongWithIt(t *testing.T) {
	for text, want := range map[string]string{
		"pathes: {}":                         "pathes",
		"paths: {submit: /tasks}":            "METHOD /path",
		"paths: {sumbit: PUT /tasks}":        "sumbit",
		"conflict_status: 500":               "409 or 422",
		"commands: {start: []}":              "a list of a program and its arguments",
		"ready: readyz":                      "ready: \"readyz\" is no path",
		"command_timeout_ms: 50":             "from 100 to 25000, not 50",
		"lease_ms: 31000":                    "from 0 to 30000, not 31000",
		"fields: {id: uuid}":                 "JSON pointer",
		"statuses: {DONE: finished}":         "finished",
		"submit: '{}'":                       "{{intent}}",
		"paths: {submit: PUT /a}\npaths: {}": "paths",
		"[]":                                 "",
	} {
		if _, err := target.ParseAdapter([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error is %v, want one about %q", text, err, want)
		}
	}
}

func TestOperationThatATargetLacksIsNotSent(t *testing.T) {
	adapter, err := target.ParseAdapter([]byte("paths: {races: '-'}"))
	if err != nil {
		t.Fatal(err)
	}
	s, rec, _ := serve(t, write(200, "{}"))
	client := target.New(target.Options{BaseURL: s.URL, Recorder: rec, Adapter: adapter})
	if _, err := client.Races(bounded(t), "j-1"); !errors.Is(err, target.ErrNotOffered) {
		t.Errorf("error is %v", err)
	}
	if n := len(rec.Events()); n != 0 {
		t.Errorf("%d events recorded of a call that was not made", n)
	}
}
