package edge

import (
	"errors"
	"fmt"
	"net"
	"sync"
)

// Switch is an address that stays while what is behind it changes: a service
// is told its providers' addresses once, at its start, and a scenario puts a
// proxy with a fault in between for a while.
type Switch struct {
	Name string

	relay *relay
	home  string

	mu sync.Mutex
	to string
}

// NewSwitch listens at addr ("" for any port of 127.0.0.1) and passes on to
// home (host:port).
func NewSwitch(name, addr, home string) (*Switch, error) {
	s := &Switch{Name: name, home: home, to: home}
	r, err := newRelay(addr, &Meter{}, s.target)
	if err != nil {
		return nil, fmt.Errorf("switch %s: %w", name, err)
	}
	s.relay = r
	return s, nil
}

func (s *Switch) target() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.to
}

// Addr is host:port of the switch.
func (s *Switch) Addr() string { return s.relay.addr }

// URL is Addr as an HTTP base URL.
func (s *Switch) URL() string { return "http://" + s.relay.addr }

// Home is where the switch leads when nobody turned it.
func (s *Switch) Home() string { return s.home }

// Meter tells what passed, over all routes.
func (s *Switch) Meter() *Meter { return s.relay.meter }

// Turn leads connections from now on to addr, and ends those that are open,
// so that none of them gets around what is at addr.
func (s *Switch) Turn(addr string) {
	s.mu.Lock()
	s.to = addr
	s.mu.Unlock()
	s.relay.cut()
}

// Back leads to home again.
func (s *Switch) Back() { s.Turn(s.home) }

// Refuse stops listening: whoever connects is refused, until Accept.
func (s *Switch) Refuse() error {
	err := s.relay.listener.Close()
	s.relay.cut()
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// Accept listens again at the same address.
func (s *Switch) Accept() error {
	if err := s.relay.listen(); err != nil {
		return fmt.Errorf("switch %s: listen again: %w", s.Name, err)
	}
	return nil
}

// Close ends it all.
func (s *Switch) Close() { s.relay.close() }
