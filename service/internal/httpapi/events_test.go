package httpapi_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/interlock-harness/interlock/service/internal/httpapi"
)

// event is one event of a stream as it came.
type event struct{ id, kind, data string }

// stream reads the events of a job. Each comes over the channel; the channel is
// closed when the server ends the stream.
func (f *fixture) stream(t testing.TB, o owner, id string, lines ...string) (int, <-chan event, context.CancelFunc) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, "GET", "http://"+f.addr+"/v1/jobs/"+id+"/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+o.key)
	r.Header.Set("Accept", "text/event-stream")
	for _, l := range lines {
		name, value, _ := strings.Cut(l, ": ")
		r.Header.Add(name, value)
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	events := make(chan event, 100)
	go func() {
		defer close(events)
		defer resp.Body.Close()
		var e event
		for s := bufio.NewScanner(resp.Body); s.Scan(); {
			name, value, _ := strings.Cut(s.Text(), ": ")
			switch name {
			case "id":
				e.id = value
			case "event":
				e.kind = value
			case "data":
				e.data = value
			case "":
				if e.id != "" {
					events <- e
				}
				e = event{}
			}
		}
	}()
	return resp.StatusCode, events, cancel
}

func next(t testing.TB, events <-chan event) event {
	t.Helper()
	select {
	case e, ok := <-events:
		if !ok {
			t.Fatal("the stream ended")
		}
		return e
	case <-time.After(toAnswer):
		t.Fatal("no event came")
	}
	return event{}
}

func TestEventsAsAListAndAsAStream(t *testing.T) {
	f := serve(t)
	o := f.owner(t)
	id := f.submit(t, o, "sse", "sse")
	status, events, _ := f.stream(t, o, id)
	if status != 200 {
		t.Fatalf("%d", status)
	}
	first := next(t, events)
	second := next(t, events)
	if first.kind != "job.submitted" || second.kind != "attempt.moved" {
		t.Fatalf("%v %v", first, second)
	}
	validate(t, "Event", []byte(first.data))
	f.bring(t, id, "unknown")
	running, unknown := next(t, events), next(t, events)
	if !strings.Contains(running.data, `"to":"running"`) || !strings.Contains(unknown.data, `"from":"running","to":"unknown"`) {
		t.Fatalf("%v %v", running, unknown)
	}
	list := f.call(t, request("GET", "/v1/jobs/"+id+"/events", o.key, ""))
	validate(t, "EventList", list.body)
	var all struct {
		Events []struct {
			ID   int64
			Type string
		}
	}
	decode(t, list.body, &all)
	var ids []string
	for _, e := range all.Events {
		ids = append(ids, fmt.Sprint(e.ID))
	}
	if got := []string{first.id, second.id, running.id, unknown.id}; fmt.Sprint(got) != fmt.Sprint(ids) {
		t.Errorf("the stream has %v, the list %v", got, ids)
	}
	t.Run("resumes behind the last event", func(t *testing.T) {
		_, events, _ := f.stream(t, o, id, "Last-Event-ID: "+second.id)
		if e := next(t, events); e.id != running.id {
			t.Errorf("resumed with %v", e)
		}
		if e := next(t, events); e.id != unknown.id {
			t.Errorf("went on with %v", e)
		}
	})
	t.Run("refuses what is no number", func(t *testing.T) { // D13
		for _, bad := range []string{"-1", "abc", "1.0"} {
			if status, _, _ := f.stream(t, o, id, "Last-Event-ID: "+bad); status != 400 {
				t.Errorf("%s: %d", bad, status)
			}
		}
	})
	t.Run("waits for a number that is yet to come", func(t *testing.T) { // D13
		last := sql[int64](t, f, "SELECT max(id) FROM attempt_events")
		status, events, _ := f.stream(t, o, id, fmt.Sprint("Last-Event-ID: ", last+1))
		if status != 200 {
			t.Fatalf("%d", status)
		}
		select {
		case e := <-events:
			t.Fatalf("it did not wait: %v", e)
		case <-time.After(300 * time.Millisecond):
		}
	})
}

func TestStreamsOfOneOwnerAreCounted(t *testing.T) { // D14
	if n := httpapi.DefaultLimits().Streams; n != 1000 {
		t.Fatalf("%d streams are the limit, want 1,000", n)
	}
	f := serve(t, withLimits(func(l *httpapi.Limits) { l.Streams = 3 }))
	o, other := f.owner(t), f.owner(t)
	id := f.submit(t, o, "d14", "d14")
	var leave context.CancelFunc
	for range 3 {
		status, events, cancel := f.stream(t, o, id)
		if status != 200 {
			t.Fatalf("%d", status)
		}
		next(t, events)
		leave = cancel
	}
	a := f.call(t, request("GET", "/v1/jobs/"+id+"/events", o.key, "", "Accept: text/event-stream"))
	if a.status != 429 || a.problem() != "streams-spent" || a.header.Get("Retry-After") == "" {
		t.Errorf("%d %v %s", a.status, a.header, a.body)
	}
	foreign := f.submit(t, other, "d14", "d14")
	if status, _, _ := f.stream(t, other, foreign); status != 200 {
		t.Errorf("another owner gets %d", status)
	}
	leave()
	eventually(t, "a place is free again", func() bool {
		status, _, cancel := f.stream(t, o, id)
		defer cancel()
		return status == 200
	})
}

func TestStreamEndsWhenTheServerDrains(t *testing.T) {
	f := serve(t)
	o := f.owner(t)
	id := f.submit(t, o, "k", "k")
	_, events, _ := f.stream(t, o, id)
	next(t, events)
	if err := f.stop(); err != nil {
		t.Fatal(err)
	}
	for range events { // what was on its way; then the end
	}
}

// hangUp sends a whole request and resets the connection at once.
func (f *fixture) hangUp(t testing.TB, raw string) {
	t.Helper()
	conn, err := net.Dial("tcp", f.addr)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, raw); err != nil {
		t.Fatal(err)
	}
	_ = conn.Close()
}
