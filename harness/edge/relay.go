package edge

import (
	"errors"
	"net"
	"sync"
	"syscall"
)

// relay is a plain TCP relay that counts: it listens at addr and connects on to
// where to says at that moment.
type relay struct {
	addr     string
	listener net.Listener
	meter    *Meter
	counts   counting
	to       func() string

	mu     sync.Mutex
	closed bool
	conns  map[net.Conn]bool
	wg     sync.WaitGroup
}

// counting is what a relay counts: of a pair with a proxy between them, the
// front sees what the client sent and got, the back what reached the upstream
// and what that answered.
type counting struct{ in, out Stream }

var (
	inFront = counting{in: Up, out: Down}
	inBack  = counting{in: Down, out: Up}
)

func newRelay(addr string, m *Meter, to func() string) (*relay, error) {
	return newCountingRelay(addr, m, counting{}, to)
}

func newCountingRelay(addr string, m *Meter, c counting, to func() string) (*relay, error) {
	if addr == "" {
		addr = "127.0.0.1:0"
	}
	r := &relay{addr: addr, meter: m, counts: c, to: to, conns: map[net.Conn]bool{}}
	if err := r.listen(); err != nil {
		return nil, err
	}
	return r, nil
}

// listen listens at the relay's address, which the first time may leave the
// port open.
func (r *relay) listen() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return net.ErrClosed
	}
	l, err := net.Listen("tcp4", r.addr)
	if err != nil {
		return err
	}
	r.listener, r.addr = l, l.Addr().String()
	r.wg.Go(func() { r.accept(l) })
	return nil
}

func (r *relay) accept(l net.Listener) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return // closed
		}
		r.wg.Go(func() { r.serve(conn) })
	}
}

func (r *relay) serve(client net.Conn) {
	defer func() { _ = client.Close() }()
	server, err := net.DialTimeout("tcp", r.to(), toDial)
	if err != nil {
		return
	}
	defer func() { _ = server.Close() }()
	if !r.track(client, server) {
		return
	}
	defer r.forget(client, server)
	var up sync.WaitGroup
	up.Go(func() {
		r.copy(server, client, Up)
		_ = server.Close() // as Toxiproxy does: the end of one side ends both
	})
	r.copy(client, server, Down)
	_ = client.Close()
	_ = server.Close()
	up.Wait()
}

// copy passes on one direction until it ends. An end by reset is passed on as
// one.
func (r *relay) copy(to, from net.Conn, s Stream) {
	buffer := make([]byte, 32<<10)
	all := r.counts == counting{}
	first := s == Up && r.counts != inBack
	for {
		n, err := from.Read(buffer)
		if n > 0 {
			if all || r.counts.in == s {
				r.meter.add(s, false, n, first)
				first = false
			}
			if r.counts == inBack && s == Up { // it has come through the proxy
				r.meter.add(s, true, n, false)
			}
			if _, err := to.Write(buffer[:n]); err != nil {
				return
			}
			if all || r.counts == inFront && s == Down {
				r.meter.add(s, true, n, false)
			}
		}
		if errors.Is(err, syscall.ECONNRESET) {
			if tcp, ok := to.(*net.TCPConn); ok {
				_ = tcp.SetLinger(0)
			}
		}
		if err != nil {
			return
		}
	}
}

func (r *relay) track(conns ...net.Conn) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return false
	}
	for _, c := range conns {
		r.conns[c] = true
	}
	return true
}

func (r *relay) forget(conns ...net.Conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range conns {
		delete(r.conns, c)
	}
}

// cut closes the connections that are open now.
func (r *relay) cut() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for c := range r.conns {
		_ = c.Close()
	}
}

func (r *relay) close() {
	r.mu.Lock()
	r.closed = true
	_ = r.listener.Close()
	r.mu.Unlock()
	r.cut()
	r.wg.Wait()
}
