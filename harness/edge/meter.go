package edge

import (
	"fmt"
	"sync"
)

// Meter counts what came into a proxy and what left it, in both directions.
type Meter struct {
	mu      sync.Mutex
	conns   int
	in, out map[Stream]int64
	change  chan struct{}
}

// Count is the state of a meter. In is what a side sent, Out what reached the
// other side: where Out is less than In, bytes were lost or are held.
type Count struct {
	Conns           int   // connections that sent something
	InUp, OutUp     int64 // bytes of requests
	InDown, OutDown int64 // bytes of responses
}

func (c Count) String() string {
	return fmt.Sprintf("%d connections, %d of %d request bytes and %d of %d response bytes passed", c.Conns, c.OutUp, c.InUp, c.OutDown, c.InDown)
}

// Count is what was counted so far.
func (m *Meter) Count() Count {
	m.mu.Lock()
	defer m.mu.Unlock()
	return Count{Conns: m.conns, InUp: m.in[Up], OutUp: m.out[Up], InDown: m.in[Down], OutDown: m.out[Down]}
}

// Changed is closed at the next count.
func (m *Meter) Changed() <-chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.change == nil {
		m.change = make(chan struct{})
	}
	return m.change
}

func (m *Meter) add(s Stream, out bool, n int, first bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.in == nil {
		m.in, m.out = map[Stream]int64{}, map[Stream]int64{}
	}
	if out {
		m.out[s] += int64(n)
	} else {
		m.in[s] += int64(n)
	}
	if first {
		m.conns++
	}
	if m.change != nil {
		close(m.change)
		m.change = nil
	}
}

// tap is a toxic that counts for m and changes nothing.
func (m *Meter) tap(s Stream, out bool) Toxic {
	return Toxic{Type: hookType, Stream: s, pipe: func(l *link) {
		first := s == Up && !out
		l.pass(func(data []byte) ([]byte, bool) {
			m.add(s, out, len(data), first)
			first = false
			return data, true
		})
	}}
}
