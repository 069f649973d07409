package httpapi_test

import (
	"fmt"
	"io"
	"net"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/interlock-harness/interlock/service/internal/httpapi"
	"github.com/interlock-harness/interlock/service/internal/job"
)

func TestLimitsAreTheDocumentedOnes(t *testing.T) {
	l := httpapi.DefaultLimits()
	if l.Target != 4<<10 || l.Headers != 16<<10 || l.HeaderLines != 100 || l.Body != 1<<20 || l.Certificate != 256<<10 ||
		l.HeaderTime != 5*time.Second || l.BodyTime != 15*time.Second || l.IdleTime != time.Minute || l.WaitTime != time.Minute {
		t.Errorf("%+v", l)
	}
	if l.JSON.MaxDepth != 64 || l.JSON.MaxNumberLength != 64 || l.JSON.MaxExponent != 400 || l.JSON.MaxKeys != 1000 {
		t.Errorf("%+v", l.JSON)
	}
}

func TestDrippedBodyIsCutOff(t *testing.T) { // A34
	f := serve(t, withLimits(func(l *httpapi.Limits) { l.BodyTime = time.Second }))
	o := f.owner(t)
	raw := post(o, goodBody("a34"), "Idempotency-Key: a34")
	head, body, _ := strings.Cut(raw, "\r\n\r\n")
	conn, err := net.Dial("tcp", f.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, head+"\r\n\r\n"+body[:3]); err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	_ = conn.SetReadDeadline(time.Now().Add(toAnswer))
	said, err := io.ReadAll(conn)
	if err != nil || !strings.HasPrefix(string(said), "HTTP/1.1 408 ") || !strings.Contains(string(said), "body-timeout") {
		t.Errorf("%s %v", said, err)
	}
	if took := time.Since(begun); took < 900*time.Millisecond || took > 3*time.Second {
		t.Errorf("closed after %s", took)
	}
	if f.jobs(t, o) != 0 {
		t.Error("a job was stored")
	}
	if a := f.call(t, raw); a.status != 201 {
		t.Errorf("the key was consumed: %d", a.status)
	}
	t.Run("also behind a refusal that does not read it", func(t *testing.T) {
		conn, err := net.Dial("tcp", f.addr)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		_, _ = io.WriteString(conn, strings.Replace(head, o.key, "nobody", 1)+"\r\n\r\n"+body[:3])
		begun := time.Now()
		_ = conn.SetReadDeadline(time.Now().Add(toAnswer))
		answered, err := io.ReadAll(conn)
		if err != nil || !strings.HasPrefix(string(answered), "HTTP/1.1 401 ") {
			t.Errorf("%s %v", answered, err)
		}
		if took := time.Since(begun); took > 3*time.Second {
			t.Errorf("closed after %s", took)
		}
	})
}

func TestSlowReaderLosesItsConnection(t *testing.T) { // A35
	f := serve(t, withLimits(func(l *httpapi.Limits) { l.WriteTime = time.Second }))
	o := f.owner(t)
	id := f.submit(t, o, "a35", "a35")
	by := f.claim(t, id)
	if err := f.store.Complete(t.Context(), by, []byte(`{"label":"`+strings.Repeat("x", 10<<20)+`"}`)); err != nil {
		t.Fatal(err)
	}
	before := runtime.NumGoroutine()
	conn, err := net.Dial("tcp", f.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.(*net.TCPConn).SetReadBuffer(4 << 10)
	if _, err := io.WriteString(conn, request("GET", "/v1/jobs/"+id, o.key, "")); err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	eventually(t, "the handler of the slow reader is gone", func() bool {
		_, _ = conn.Read(make([]byte, 1))
		return runtime.NumGoroutine() <= before
	})
	if took := time.Since(begun); took > 5*time.Second {
		t.Errorf("it took %s", took)
	}
	if a := f.call(t, request("GET", "/v1/jobs/"+id, o.key, "")); a.status != 200 || len(a.body) < 10<<20 {
		t.Errorf("a reader that keeps up gets %d, %d bytes", a.status, len(a.body))
	}
}

func TestIdleConnectionIsClosed(t *testing.T) { // A36
	f := serve(t, withLimits(func(l *httpapi.Limits) { l.IdleTime = time.Second }))
	o := f.owner(t)
	conn, err := net.Dial("tcp", f.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_, _ = io.WriteString(conn, request("GET", "/v1/jobs", o.key, ""))
	begun := time.Now()
	_ = conn.SetReadDeadline(time.Now().Add(toAnswer))
	said, err := io.ReadAll(conn)
	if err != nil || !strings.HasPrefix(string(said), "HTTP/1.1 200 ") {
		t.Errorf("%s %v", said, err)
	}
	if took := time.Since(begun); took < 900*time.Millisecond || took > 3*time.Second {
		t.Errorf("closed after %s", took)
	}
}

// TestStreamOutlivesTheLimitsOfRequests holds an event stream longer than any
// limit of a plain request, and then still gets an event.
func TestStreamOutlivesTheLimitsOfRequests(t *testing.T) {
	f := serve(t, withLimits(func(l *httpapi.Limits) {
		l.HeaderTime, l.BodyTime, l.WriteTime, l.IdleTime, l.StoreTime = time.Second, time.Second, time.Second, time.Second, time.Second
	}))
	o := f.owner(t)
	id := f.submit(t, o, "long", "long")
	_, events, _ := f.stream(t, o, id)
	next(t, events)
	next(t, events)
	select {
	case e := <-events:
		t.Fatalf("%v", e)
	case <-time.After(2500 * time.Millisecond):
	}
	f.bring(t, id, "running")
	if e := next(t, events); !strings.Contains(e.data, string(job.StateRunning)) {
		t.Errorf("%v", e)
	}
}

func TestManyRequestsLeaveNothingBehind(t *testing.T) {
	f := serve(t)
	o := f.owner(t)
	f.submit(t, o, "warm", "warm")
	before := runtime.NumGoroutine()
	var all sync.WaitGroup
	for c := range 10 {
		all.Go(func() {
			for i := range 100 {
				f.call(t, post(o, goodBody("x"), fmt.Sprintf("Idempotency-Key: leak-%d-%d", c, i%10), "Connection: close"))
			}
		})
	}
	all.Wait()
	eventually(t, "no goroutine is left over", func() bool { return runtime.NumGoroutine() <= before+2 })
	if n := f.jobs(t, o); n != 101 {
		t.Errorf("%d jobs, want 101", n)
	}
}
