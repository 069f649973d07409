package standin

import "sync"

// Gate holds calls in mid-air, so that a test decides their order.
type Gate struct {
	at       Point
	once     sync.Once
	arrive   sync.Once
	arrived  chan struct{}
	released chan struct{}
	mu       sync.Mutex
	held     int
}

func newGate() *Gate {
	return &Gate{arrived: make(chan struct{}), released: make(chan struct{})}
}

// Arrived is closed when the first call is held (or, after Release, passes).
func (g *Gate) Arrived() <-chan struct{} { return g.arrived }

// Calls counts the calls that reached the gate so far.
func (g *Gate) Calls() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.held
}

// Release lets go of all calls, those that come later too. It may be called
// more than once.
func (g *Gate) Release() { g.once.Do(func() { close(g.released) }) }

// reached counts one that came to the gate.
func (g *Gate) reached() {
	g.mu.Lock()
	g.held++
	g.mu.Unlock()
	g.arrive.Do(func() { close(g.arrived) })
}

// Shut reports whether the gate still holds what comes.
func (g *Gate) Shut() bool { return !g.open() }

// open reports whether the gate was released.
func (g *Gate) open() bool {
	select {
	case <-g.released:
		return true
	default:
		return false
	}
}

// pass waits for the release. It returns false when gone closed first.
func (g *Gate) pass(gone <-chan struct{}) bool {
	g.reached()
	select {
	case <-g.released:
		return true
	case <-gone:
		return false
	}
}

// Point is a place in an answer. The zero Point is before its first byte.
// At most one field is set; a count past the end means the end.
type Point struct {
	Headers bool // after the status line and headers
	Events  int  // after so many events of a stream
	Bytes   int  // after so many bytes of the body
	Delta   int  // after so many events that carry a part of the answer
}

// offset is the place as a number of body bytes, or -1 for before the headers.
func (p Point) offset(r Reply) int {
	if p == (Point{}) {
		return -1
	}
	at, events, deltas := 0, 0, 0
	for _, piece := range r.Pieces {
		if p.Headers ||
			p.Events > 0 && events == p.Events ||
			p.Delta > 0 && deltas == p.Delta ||
			p.Bytes > 0 && at >= p.Bytes {
			break
		}
		at += len(piece.bytes())
		events++
		if piece.Delta {
			deltas++
		}
	}
	if p.Bytes > 0 {
		return min(p.Bytes, at)
	}
	return at
}
