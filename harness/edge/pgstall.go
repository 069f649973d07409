package edge

import "sync"

// Stall holds what a service sends to PostgreSQL, on every connection.
type Stall struct {
	released chan struct{}
	once     sync.Once
	mu       sync.Mutex
	held     map[*pgConn]bool
}

// Stall holds everything that is sent from now on, until Resume.
func (p *Postgres) Stall() *Stall {
	s := &Stall{released: make(chan struct{}), held: map[*pgConn]bool{}}
	if old := p.stall.Swap(s); old != nil {
		old.release()
	}
	return s
}

// Resume lets go of what s holds.
func (p *Postgres) Resume(s *Stall) {
	p.stall.CompareAndSwap(s, nil)
	s.release()
}

// Held counts the connections that wait now.
func (s *Stall) Held() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.held)
}

func (s *Stall) release() { s.once.Do(func() { close(s.released) }) }

// wait holds one message of c. It returns false when the connection ends
// first.
func (s *Stall) wait(c *pgConn) bool {
	s.mu.Lock()
	s.held[c] = true
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		delete(s.held, c)
		s.mu.Unlock()
	}()
	select {
	case <-s.released:
		return true
	case <-c.gone:
		return false
	}
}
