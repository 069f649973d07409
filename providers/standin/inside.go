package standin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
)

// inside is the listener of a stand-in that only its own process reaches: a
// connection is a pipe, and no socket is opened. All above it, HTTP and how it
// breaks off, is as it is over a socket.
type inside struct {
	dialled chan net.Conn
	closed  chan struct{}
	once    sync.Once
}

func newInside() *inside { return &inside{dialled: make(chan net.Conn), closed: make(chan struct{})} }

// Accept is part of net.Listener.
func (l *inside) Accept() (net.Conn, error) {
	select {
	case conn := <-l.dialled:
		return conn, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close is part of net.Listener.
func (l *inside) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

// Addr is part of net.Listener: an address at which nothing can listen, so that a
// client that knows no better reaches nobody.
func (l *inside) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)} }

// pipeEnd is one end of a pipe that can be reset as a TCP connection can.
type pipeEnd struct {
	net.Conn
	reset *atomic.Bool // of both ends
}

func newPipe() (a, b net.Conn) {
	one, two := net.Pipe()
	reset := new(atomic.Bool)
	return &pipeEnd{one, reset}, &pipeEnd{two, reset}
}

// SetLinger has Close reset the connection where sec is 0, as with net.TCPConn.
func (e *pipeEnd) SetLinger(sec int) error {
	e.reset.Store(sec == 0)
	return nil
}

func (e *pipeEnd) Read(b []byte) (int, error) {
	n, err := e.Conn.Read(b)
	if errors.Is(err, io.EOF) && e.reset.Load() {
		err = &net.OpError{Op: "read", Net: "pipe", Err: syscall.ECONNRESET}
	}
	return n, err
}

// Dial opens a connection to a server that was started with Inside, whatever the
// address says. One that was closed refuses.
func (s *Server) Dial(ctx context.Context, _, _ string) (net.Conn, error) {
	l, ok := s.listener.(*inside)
	if !ok {
		return nil, fmt.Errorf("stand-in %s listens on a socket, %s", s.options.Name, s.Addr())
	}
	ours, theirs := newPipe()
	select {
	case l.dialled <- theirs:
		return ours, nil
	case <-l.closed:
		return nil, fmt.Errorf("dial stand-in %s: %w", s.options.Name, syscall.ECONNREFUSED)
	case <-ctx.Done():
		return nil, fmt.Errorf("dial stand-in %s: %w", s.options.Name, ctx.Err())
	}
}
