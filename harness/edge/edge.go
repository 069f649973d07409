// Package edge stands between two parties of an experiment, such as a client
// and the API, a worker and a provider, or a service and PostgreSQL, and
// passes their bytes on, until it is told to lose, cut, hold or count them.
//
// It keeps these rules. A fault is in place before anybody connects. A proxy
// serves one actor in one scenario and is dropped with its faults, never
// mended. Each proxy counts what passed, so that a fault can prove that it
// acted. Nothing waits without a bound.
package edge

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Bounds of everything that waits.
const (
	toDial    = 5 * time.Second
	toControl = 5 * time.Second // one call to a stand-alone Toxiproxy
	toClose   = 5 * time.Second // the goroutines of a proxy
)

// ErrNotHere is returned for a toxic that a stand-alone Toxiproxy does not know.
var ErrNotHere = errors.New("this toxic needs Toxiproxy inside the process")

// Network makes proxies, inside this process or on a stand-alone Toxiproxy.
type Network struct {
	embedded *embedded
	remote   *remote

	mu   sync.Mutex
	open map[*Proxy]bool
}

// Embedded is a network of proxies inside this process.
func Embedded() *Network {
	return &Network{embedded: newEmbedded(), open: map[*Proxy]bool{}}
}

// Remote is a network of proxies on the stand-alone Toxiproxy whose control
// API is at url. It fails when nobody answers there.
func Remote(ctx context.Context, url string) (*Network, error) {
	r, err := newRemote(ctx, url)
	if err != nil {
		return nil, err
	}
	return &Network{remote: r, open: map[*Proxy]bool{}}, nil
}

// Kind says where the proxies run, with the version of Toxiproxy.
func (n *Network) Kind() string {
	if n.remote != nil {
		return "Toxiproxy " + n.remote.version + " at " + n.remote.base
	}
	return "Toxiproxy 2.12.0 inside the process"
}

// Proxy is one proxy: it listens at Addr and passes on to its upstream,
// through the toxics with which it was opened.
type Proxy struct {
	Name string

	network  *Network
	addr     string
	upstream string
	meter    *Meter
	quit     chan struct{} // closed when the proxy is dropped
	stop     func(context.Context) error
	once     sync.Once
	err      error
}

// Open starts a proxy on a port of 127.0.0.1 to upstream (host:port). All
// toxics are in place when it returns; the order is that of the stream.
func (n *Network) Open(ctx context.Context, name, upstream string, toxics ...Toxic) (*Proxy, error) {
	p := &Proxy{Name: name, network: n, upstream: upstream, meter: &Meter{}, quit: make(chan struct{})}
	var err error
	if n.remote != nil {
		err = n.remote.open(ctx, p, toxics)
	} else {
		err = n.embedded.open(p, toxics)
	}
	if err != nil {
		return nil, fmt.Errorf("open proxy %s to %s: %w", name, upstream, err)
	}
	n.mu.Lock()
	n.open[p] = true
	n.mu.Unlock()
	return p, nil
}

// Addr is host:port to connect to instead of the upstream.
func (p *Proxy) Addr() string { return p.addr }

// URL is Addr as an HTTP base URL.
func (p *Proxy) URL() string { return "http://" + p.addr }

// Upstream is where the proxy passes on to.
func (p *Proxy) Upstream() string { return p.upstream }

// Meter tells what passed.
func (p *Proxy) Meter() *Meter { return p.meter }

// Close drops the proxy: its port is closed and so is every connection.
func (p *Proxy) Close() error {
	p.once.Do(func() {
		ctx, cancel := context.WithTimeout(context.Background(), toClose)
		defer cancel()
		close(p.quit)
		p.err = p.stop(ctx)
		p.network.mu.Lock()
		delete(p.network.open, p)
		p.network.mu.Unlock()
	})
	return p.err
}

// Proxies names the proxies that are open, each with its address.
func (n *Network) Proxies() (names []string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for p := range n.open {
		names = append(names, p.Name+" at "+p.addr)
	}
	return names
}

// Close drops all proxies that are still open.
func (n *Network) Close() error {
	n.mu.Lock()
	open := make([]*Proxy, 0, len(n.open))
	for p := range n.open {
		open = append(open, p)
	}
	n.mu.Unlock()
	var failed error
	for _, p := range open {
		failed = errors.Join(failed, p.Close())
	}
	if n.remote != nil {
		n.remote.close()
	}
	return failed
}
