package edge

import (
	"context"
	"fmt"
	"sync"
)

// Gate holds the bytes of one direction of all connections until it is
// released. Nothing is lost.
type Gate struct {
	name     string
	told     func()
	arrive   sync.Once
	arrived  chan struct{}
	release  sync.Once
	released chan struct{}
}

// NewGate makes a gate; Hold places it on a proxy.
func NewGate(name string) *Gate {
	return &Gate{name: name, arrived: make(chan struct{}), released: make(chan struct{})}
}

// Hold is the toxic that makes connections wait at g. It needs Toxiproxy
// inside the process.
func (g *Gate) Hold(s Stream) Toxic {
	return Toxic{Type: "gate", Stream: s, pipe: func(l *link) {
		l.pass(func(data []byte) ([]byte, bool) {
			g.reached()
			select {
			case <-g.released:
				return data, true
			case <-l.quit:
				return nil, false
			}
		})
	}}
}

// OnArrival makes the gate call told when the first bytes are held, before
// Arrived is closed. Set it before anybody connects.
func (g *Gate) OnArrival(told func()) { g.told = told }

// reached is called by whoever is held.
func (g *Gate) reached() {
	g.arrive.Do(func() {
		if g.told != nil {
			g.told()
		}
		close(g.arrived)
	})
}

// Arrived is closed when the first bytes are held.
func (g *Gate) Arrived() <-chan struct{} { return g.arrived }

// Release lets everything through, now and later.
func (g *Gate) Release() { g.release.Do(func() { close(g.released) }) }

// Open says whether the gate was released.
func (g *Gate) Open() bool {
	select {
	case <-g.released:
		return true
	default:
		return false
	}
}

// Await waits until something is held.
func (g *Gate) Await(ctx context.Context) error {
	select {
	case <-g.arrived:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("nothing arrived at gate %s: %w", g.name, ctx.Err())
	}
}
