package console

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

const bound = 5 * time.Second

// listener reads the names of the events of one stream.
func listener(t *testing.T, h *hub, last string) func() string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(h.stream))
	ctx, cancel := context.WithTimeout(context.Background(), bound)
	t.Cleanup(func() { cancel(); server.Close() })
	r, err := http.NewRequestWithContext(ctx, "GET", server.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	if last != "" {
		r.Header.Set("Last-Event-ID", last)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = resp.Body.Close() })
	lines := bufio.NewScanner(resp.Body)
	return func() string {
		for lines.Scan() {
			if name, ok := strings.CutPrefix(lines.Text(), "event: "); ok {
				lines.Scan()
				return name + " " + strings.TrimPrefix(lines.Text(), "data: ")
			}
		}
		t.Fatalf("the stream ended: %v", lines.Err())
		return ""
	}
}

func TestAStreamTellsWhatChanges(t *testing.T) {
	h := newHub()
	next := listener(t, h, "")
	if got := next(); got != "hello "+h.name {
		t.Fatalf("first %q", got)
	}
	h.tell("job", "j-1")
	h.tell("fault", "")
	if a, b := next(), next(); a != "job j-1" || b != "fault " {
		t.Errorf("heard %q and %q", a, b)
	}
}

func TestAStreamGoesOnWhereItBroke(t *testing.T) {
	h := newHub()
	h.tell("job", "j-1")
	h.tell("job", "j-2")
	next := listener(t, h, fmt.Sprintf("%s-1", h.name))
	if a, b := next(), next(); a != "hello "+h.name || b != "job j-2" {
		t.Errorf("heard %q and %q", a, b)
	}
}

func TestAStreamThatMissedTooMuchReadsEverythingAgain(t *testing.T) {
	for name, id := range map[string]string{"of another console": "ZZZZZZZZ-1", "ahead of us": "%s-99999", "not one of ours": "nonsense", "too old": "%s-0"} {
		h := newHub()
		for range kept + 1 {
			h.tell("job", "j")
		}
		next := listener(t, h, strings.ReplaceAll(id, "%s", h.name))
		if a, b := next(), next(); a != "hello "+h.name || b != "resync all" {
			t.Errorf("%s: heard %q and %q", name, a, b)
		}
	}
}
