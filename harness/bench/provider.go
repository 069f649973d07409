package bench

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// Names of the providers: one that answers at once, one that answers both calls of
// a job at the same moment, and one that holds its calls.
const (
	atOnce = "at-once"
	paired = "paired"
	held   = "held"
)

// provider answers as an OpenAI-compatible server would, and as quickly as it
// can: what it costs is missing to the service.
type provider struct {
	server  *http.Server
	addr    string
	calls   atomic.Int64
	waiting atomic.Int64
	release chan struct{} // closed: the held calls may go

	mu    sync.Mutex
	pairs map[string]chan struct{} // by job: the first call waits for the second
}

const answered = `{"id":"bench","object":"chat.completion","created":1,"model":"bench","choices":[{"index":0,"message":{"role":"assistant",` +
	`"content":"{\"queue\":\"technical\",\"urgency\":\"low\",\"summary\":\"No paper.\"}"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}`

func startProvider() (*provider, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &provider{addr: ln.Addr().String(), release: make(chan struct{}), pairs: map[string]chan struct{}{}}
	p.server = &http.Server{Handler: p, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = p.server.Serve(ln) }()
	return p, nil
}

func (p *provider) close() { _ = p.server.Close() }

// url is the base URL of one of the providers: they differ in the path.
func (p *provider) url(name string) string { return "http://" + p.addr + "/" + name }

func (p *provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	p.calls.Add(1)
	switch {
	case len(r.URL.Path) > len(paired) && r.URL.Path[1:len(paired)+1] == paired:
		p.pair(r)
	case len(r.URL.Path) > len(held) && r.URL.Path[1:len(held)+1] == held:
		p.waiting.Add(1)
		defer p.waiting.Add(-1)
		select {
		case <-p.release:
		case <-r.Context().Done():
			return
		}
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", fmt.Sprint(len(answered)))
	_, _ = io.WriteString(w, answered)
}

// pair returns when both calls of a job are there.
func (p *provider) pair(r *http.Request) {
	id := r.Header.Get("X-Job-Id")
	p.mu.Lock()
	both, second := p.pairs[id]
	if second {
		delete(p.pairs, id)
		close(both)
	} else {
		both = make(chan struct{})
		p.pairs[id] = both
	}
	p.mu.Unlock()
	select {
	case <-both:
	case <-r.Context().Done():
	}
}
