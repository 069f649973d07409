package edge

import (
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
)

// Postgres is a relay between a service and PostgreSQL that reads the frames
// of the protocol, so that it can lose exactly one acknowledgement and leave
// all other transactions of the same pool alone.
//
// It speaks plain TCP on both sides and tells a client that asks for TLS that
// there is none.
type Postgres struct {
	addr     string
	upstream string
	listener net.Listener
	armed    atomic.Bool // a short cut: most of the time there is no rule
	stall    atomic.Pointer[Stall]
	steps    atomic.Pointer[Steps]
	served   atomic.Int64 // connections so far

	mu     sync.Mutex
	rules  []*Rule
	conns  map[*pgConn]bool
	closed bool
	wg     sync.WaitGroup
}

// NewPostgres starts a relay on a port of 127.0.0.1 to the server at upstream
// (host:port).
func NewPostgres(upstream string) (*Postgres, error) { return NewPostgresAt("127.0.0.1:0", upstream) }

// NewPostgresAt is NewPostgres at an address of its own.
func NewPostgresAt(addr, upstream string) (*Postgres, error) {
	l, err := net.Listen("tcp4", addr)
	if err != nil {
		return nil, fmt.Errorf("PostgreSQL relay: %w", err)
	}
	p := &Postgres{addr: l.Addr().String(), upstream: upstream, listener: l, conns: map[*pgConn]bool{}}
	p.wg.Go(p.accept)
	return p, nil
}

// Addr is host:port to connect to instead of the server.
func (p *Postgres) Addr() string { return p.addr }

// Arm places a rule. It acts once, on the first transaction that matches. told
// may be nil; it hears the evidence before the service can notice anything.
func (p *Postgres) Arm(v Victim, at Place, do Deed, told func(evidence string)) (*Rule, error) {
	r, err := newRule(p, v, at, do, told)
	if err != nil {
		return nil, fmt.Errorf("arm a rule %s: %w", at, err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, errors.New("arm a rule: the relay is closed")
	}
	p.rules = append(p.rules, r)
	p.armed.Store(true)
	return r, nil
}

// Connections counts the connections that are open now.
func (p *Postgres) Connections() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.conns)
}

// Close ends all connections and waits for what serves them.
func (p *Postgres) Close() error {
	p.mu.Lock()
	p.closed = true
	rules := p.rules
	p.rules = nil
	for c := range p.conns {
		c.close()
	}
	p.mu.Unlock()
	for _, r := range rules {
		r.Release()
	}
	if s := p.stall.Load(); s != nil {
		p.Resume(s)
	}
	err := p.listener.Close()
	p.wg.Wait()
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

func (p *Postgres) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return // closed
		}
		p.wg.Go(func() { p.serve(client) })
	}
}

func (p *Postgres) serve(client net.Conn) {
	server, err := net.DialTimeout("tcp", p.upstream, toDial)
	if err != nil {
		_ = client.Close()
		return
	}
	c := newPGConn(p, client, server)
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		c.close()
		return
	}
	p.conns[c] = true
	p.mu.Unlock()

	c.run()

	p.mu.Lock()
	delete(p.conns, c)
	p.mu.Unlock()
}

// current are the rules that may still act.
func (p *Postgres) current() []*Rule {
	if !p.armed.Load() {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]*Rule(nil), p.rules...)
}

func (p *Postgres) remove(r *Rule) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, other := range p.rules {
		if other == r {
			p.rules = append(p.rules[:i:i], p.rules[i+1:]...)
			break
		}
	}
	p.armed.Store(len(p.rules) > 0)
}
