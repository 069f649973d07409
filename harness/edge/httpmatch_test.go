package edge_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/interlock-harness/interlock/harness/edge"
)

// echo answers with the key of the request, and takes note of it.
type echo struct {
	mu   sync.Mutex
	keys []string
}

func (e *echo) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	e.mu.Lock()
	e.keys = append(e.keys, r.Header.Get("Key"))
	e.mu.Unlock()
	if r.Header.Get("Key") == "streamed" { // no length: chunks
		_ = http.NewResponseController(w).Flush()
	}
	_, _ = io.WriteString(w, r.Header.Get("Key"))
}

func (e *echo) seen() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return strings.Join(e.keys, " ")
}

// send sends requests one after the other over one connection and returns
// what came back for each.
func send(ctx context.Context, url string, keys ...string) (got []string) {
	client := &http.Client{Transport: &http.Transport{MaxConnsPerHost: 1}}
	defer client.CloseIdleConnections()
	for i, key := range keys {
		body := io.Reader(strings.NewReader(strings.Repeat("b", i*100)))
		if i%2 == 1 {
			body = struct{ io.Reader }{body} // no length: chunks
		}
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, body)
		if err != nil {
			return append(got, err.Error())
		}
		req.Header.Set("Key", key)
		resp, err := client.Do(req)
		if err != nil {
			if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
				err = io.EOF
			}
			got = append(got, "cut")
			continue
		}
		text, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err != nil {
			text = []byte("half")
		}
		got = append(got, string(text))
	}
	return got
}

func TestCutMessageHitsTheNthThatMatches(t *testing.T) {
	for name, c := range map[string]struct {
		toxic    edge.Toxic
		got, saw string
	}{
		"third request":         {edge.CutMessage(edge.Up, edge.Message{Nth: 3}, nil), "[a b cut d]", "a b d"},
		"third response":        {edge.CutMessage(edge.Down, edge.Message{Nth: 3}, nil), "[a b cut d]", "a b c d"},
		"a key":                 {edge.CutMessage(edge.Up, edge.Message{Holds: []string{"POST / HTTP/1.1", "Key: b"}}, nil), "[a cut c d]", "a c d"},
		"a key that never came": {edge.CutMessage(edge.Up, edge.Message{Holds: []string{"Key: x"}}, nil), "[a b c d]", "a b c d"},
		"a second of that key":  {edge.CutMessage(edge.Up, edge.Message{Holds: []string{"Key: b"}, Nth: 2}, nil), "[a b c d]", "a b c d"},
	} {
		t.Run(name, func(t *testing.T) {
			network, target, ctx := edge.Embedded(), &echo{}, bounded(t)
			defer func() { _ = network.Close() }()
			s := newServer(t)
			s.Config.Handler = target
			p, err := network.Open(ctx, "client-1", s.addr(), c.toxic)
			if err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprint(send(ctx, p.URL(), "a", "b", "c", "d")); got != c.got {
				t.Errorf("the client saw %s, want %s", got, c.got)
			}
			if target.seen() != c.saw {
				t.Errorf("the server saw %s, want %s", target.seen(), c.saw)
			}
		})
	}
}

func TestMessagesAreFoundWhateverTheirBodyAndChunks(t *testing.T) {
	network, target, ctx := edge.Embedded(), &echo{}, bounded(t)
	defer func() { _ = network.Close() }()
	s := newServer(t)
	s.Config.Handler = target
	// Slices of 7 bytes: heads and sizes arrive in pieces.
	p, err := network.Open(ctx, "client-1", s.addr(),
		edge.Slice(edge.Up, 7, 0), edge.CutMessage(edge.Up, edge.Message{Nth: 4}, nil),
		edge.Slice(edge.Down, 7, 0), edge.CutMessage(edge.Down, edge.Message{Nth: 99}, nil))
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(send(ctx, p.URL(), "a", "streamed", "c", "d", "streamed")); got != "[a streamed c cut streamed]" {
		t.Errorf("the client saw %s", got)
	}
}

func TestHoldMessageHoldsOneAndNotOthers(t *testing.T) {
	network, target, ctx := edge.Embedded(), &echo{}, bounded(t)
	defer func() { _ = network.Close() }()
	s := newServer(t)
	s.Config.Handler = target
	gate := edge.NewGate("b")
	p, err := network.Open(ctx, "client-1", s.addr(), gate.HoldMessage(edge.Up, edge.Message{Holds: []string{"Key: b"}}))
	if err != nil {
		t.Fatal(err)
	}
	held := make(chan []string, 1)
	go func() { held <- send(ctx, p.URL(), "a", "b") }()
	if err := gate.Await(ctx); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(send(ctx, p.URL(), "c")); got != "[c]" || target.seen() != "a c" {
		t.Errorf("another client saw %s, the server %s", got, target.seen())
	}
	gate.Release()
	if got := fmt.Sprint(<-held); got != "[a b]" || target.seen() != "a c b" {
		t.Errorf("after the release the client saw %s, the server %s", got, target.seen())
	}
}
