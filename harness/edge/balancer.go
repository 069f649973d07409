package edge

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"syscall"
)

// ServedBy is the response header that names the backend that answered.
const ServedBy = "X-Served-By"

// Backend is one replica behind a balancer.
type Backend struct {
	Name string // api-1
	URL  string // http://127.0.0.1:41234
}

// Delivery is how a balancer treats one request.
type Delivery string

const (
	Once      Delivery = ""            // one backend gets it, in turn
	Both      Delivery = "both"        // two backends get it at once; the first answer counts
	AfterLoss Delivery = "after a cut" // the first backend's answer is lost; the next backend gets it again
)

// Balancer passes HTTP requests on to backends, one after the other in turn.
// It sends a request once, unless it is told to misdeliver it.
type Balancer struct {
	listener net.Listener
	server   *http.Server
	served   chan struct{}
	http     *http.Client

	mu        sync.Mutex
	backends  []Backend
	next      int
	plans     map[string]Delivery // by idempotency key
	delivered map[string]int      // requests that reached a backend, by idempotency key
	counts    map[string]int      // by backend
}

// NewBalancer starts a balancer on a port of 127.0.0.1.
func NewBalancer(backends ...Backend) (*Balancer, error) {
	return NewBalancerAt("127.0.0.1:0", backends...)
}

// NewBalancerAt is NewBalancer at an address of its own.
func NewBalancerAt(addr string, backends ...Backend) (*Balancer, error) {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("balancer: %w", err)
	}
	b := &Balancer{
		listener: l, served: make(chan struct{}), backends: backends,
		plans: map[string]Delivery{}, delivered: map[string]int{}, counts: map[string]int{},
		// Fresh connections: a transport that finds a kept one dead would send
		// a keyed POST again by itself.
		http: &http.Client{
			Transport: &http.Transport{
				DisableKeepAlives: true, DisableCompression: true,
				DialContext: (&net.Dialer{Timeout: toDial, Control: refuseLinkLocal}).DialContext,
			},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
	b.server = &http.Server{Handler: b, ReadHeaderTimeout: toDial, ErrorLog: log.New(io.Discard, "", 0)}
	go func() {
		defer close(b.served)
		_ = b.server.Serve(l)
	}()
	return b, nil
}

// Addr is host:port of the balancer.
func (b *Balancer) Addr() string { return b.listener.Addr().String() }

// URL is Addr as an HTTP base URL.
func (b *Balancer) URL() string { return "http://" + b.Addr() }

// AllowLinkLocal lets the balancer's backends have link-local addresses.
func (b *Balancer) AllowLinkLocal() {
	b.http.Transport = &http.Transport{
		DisableKeepAlives: true, DisableCompression: true,
		DialContext: (&net.Dialer{Timeout: toDial}).DialContext,
	}
}

// Set replaces the backends, for example after one was restarted elsewhere.
func (b *Balancer) Set(backends ...Backend) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.backends = backends
}

// Misdeliver tells how requests with this idempotency key are delivered from
// now on.
func (b *Balancer) Misdeliver(key string, how Delivery) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.plans[key] = how
}

// Delivered counts how often requests with this key reached a backend.
func (b *Balancer) Delivered(key string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.delivered[key]
}

// Served counts the requests that a backend got.
func (b *Balancer) Served(backend string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.counts[backend]
}

// Close ends the balancer and all requests in it.
func (b *Balancer) Close() error {
	err := b.server.Close()
	<-b.served
	b.http.CloseIdleConnections()
	return err
}

// ServeHTTP passes one request on.
func (b *Balancer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	key := r.Header.Get("Idempotency-Key")
	b.mu.Lock()
	how := b.plans[key]
	b.mu.Unlock()
	if how == Once {
		b.once(w, r, key)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	answers := make(chan *http.Response, 2)
	send := func() {
		resp, err := b.send(r.Context(), r, key, bytes.NewReader(body), int64(len(body)))
		if err != nil {
			resp = nil
		}
		answers <- resp
	}
	if how == Both {
		go send()
		go send()
	} else {
		send()
		lose(<-answers)
		send()
		answers <- nil // as many as with Both
	}
	first, second := <-answers, <-answers
	if first == nil {
		first, second = second, nil
	}
	lose(second)
	b.reply(w, first)
}

func lose(resp *http.Response) {
	if resp != nil {
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
	}
}

func (b *Balancer) once(w http.ResponseWriter, r *http.Request, key string) {
	resp, err := b.send(r.Context(), r, key, r.Body, r.ContentLength)
	if err != nil {
		resp = nil
	}
	b.reply(w, resp)
}

// send passes r on to the backend whose turn it is. One that refuses the
// connection got nothing, so the next is asked.
func (b *Balancer) send(ctx context.Context, r *http.Request, key string, body io.Reader, length int64) (*http.Response, error) {
	b.mu.Lock()
	backends := append([]Backend(nil), b.backends...)
	turn := b.next
	b.next++
	b.mu.Unlock()
	err := errors.New("no backend")
	for i := range backends {
		to := backends[(turn+i)%len(backends)]
		var resp *http.Response
		if resp, err = b.sendTo(ctx, to, r, body, length); errors.Is(err, syscall.ECONNREFUSED) {
			continue
		}
		b.mu.Lock()
		b.counts[to.Name]++
		b.delivered[key]++
		b.mu.Unlock()
		return resp, err
	}
	return nil, err
}

func (b *Balancer) sendTo(ctx context.Context, to Backend, r *http.Request, body io.Reader, length int64) (*http.Response, error) {
	out, err := http.NewRequestWithContext(ctx, r.Method, to.URL+r.URL.RequestURI(), nil)
	if err != nil {
		return nil, err
	}
	out.Header = r.Header.Clone()
	out.Header.Del("Connection")
	out.Host = r.Host
	if length != 0 {
		out.Body, out.ContentLength = io.NopCloser(struct{ io.Reader }{body}), length
	}
	resp, err := b.http.Do(out)
	if err == nil {
		resp.Header.Set(ServedBy, to.Name)
	}
	return resp, err
}

// reply hands an answer over. Without one the client sees a cut connection:
// a balancer that cannot say what happened must not make up a status.
func (b *Balancer) reply(w http.ResponseWriter, resp *http.Response) {
	if resp == nil {
		panic(http.ErrAbortHandler)
	}
	defer func() { _ = resp.Body.Close() }()
	for name, values := range resp.Header {
		w.Header()[name] = values
	}
	w.Header().Del("Connection")
	w.WriteHeader(resp.StatusCode)
	flush := http.NewResponseController(w)
	buffer := make([]byte, 16<<10)
	for {
		n, err := resp.Body.Read(buffer)
		if n > 0 {
			if _, werr := w.Write(buffer[:n]); werr != nil {
				return
			}
			if resp.ContentLength < 0 { // a stream: event by event
				_ = flush.Flush()
			}
		}
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			panic(http.ErrAbortHandler)
		}
	}
}
