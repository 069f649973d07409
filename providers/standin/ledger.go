package standin

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"
)

// Call is one request as the ledger keeps it.
type Call struct {
	N        int // from 1
	ID       string
	Ask      Ask
	Method   string
	Path     string
	Header   http.Header
	Body     []byte
	At       time.Time
	Ended    time.Time // zero while it is being answered
	Status   int       // that was sent, 0 when none was
	Bytes    int       // of the body that were sent
	Answered bool      // the answer was sent as a whole, as far as this side can tell
	Gone     bool      // the client closed first
	Output   string    // what the model said, before it took the form of the protocol; empty for an error response
}

// Moment says what Observe is told.
type Moment string

const (
	Arrive Moment = "arrive"
	// Answering is before the last bytes that will be sent leave, so that nothing
	// the answer causes can come earlier. Answered tells whether they complete it.
	Answering Moment = "answering"
	Ended     Moment = "answer"
	Gone      Moment = "gone" // the client went away before the answer was complete
)

type ledger struct {
	mu      sync.Mutex
	calls   []*Call
	last    int
	change  chan struct{} // closed and replaced at each change
	observe func(Moment, Call)
}

func (l *ledger) arrive(c *Call) {
	l.mu.Lock()
	l.last++
	c.N = l.last
	c.Ask.Call = c.N
	l.calls = append(l.calls, c)
	copied := *c
	l.wake()
	l.mu.Unlock()
	if l.observe != nil {
		l.observe(Arrive, copied)
	}
}

// answering tells the observer that the last bytes of c are about to leave.
func (l *ledger) answering(c *Call, status int, output string, whole bool) {
	l.mu.Lock()
	c.Output = output
	copied := *c
	l.mu.Unlock()
	copied.Status, copied.Answered = status, whole
	if l.observe != nil {
		l.observe(Answering, copied)
	}
}

func (l *ledger) end(c *Call, status, bytes int, answered, gone bool) {
	l.mu.Lock()
	c.Ended, c.Status, c.Bytes, c.Answered, c.Gone = time.Now(), status, bytes, answered, gone
	copied := *c
	l.wake()
	l.mu.Unlock()
	if l.observe == nil {
		return
	}
	if gone {
		l.observe(Gone, copied)
		return
	}
	l.observe(Ended, copied)
}

func (l *ledger) wake() {
	if l.change != nil {
		close(l.change)
		l.change = nil
	}
}

func (l *ledger) forget(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls = slices.DeleteFunc(l.calls, func(c *Call) bool { return c.Ask.holds(text) })
	l.wake()
}

func (l *ledger) reset() {
	l.mu.Lock()
	l.calls = nil
	l.wake()
	l.mu.Unlock()
}

// find returns copies of the calls that match, and a channel that closes at the
// next change.
func (l *ledger) find(m Match) ([]Call, <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var found []Call
	seen := 0
	for _, c := range l.calls {
		if !m.holds(c.Ask) {
			continue
		}
		if seen++; m.Nth == 0 || m.Nth == seen {
			found = append(found, *c)
		}
	}
	if l.change == nil {
		l.change = make(chan struct{})
	}
	return found, l.change
}

// Ledger lists every request since the start or the last Reset.
func (s *Server) Ledger() []Call { return s.Calls(Match{}) }

// Calls lists the requests that match. Nth counts over the whole ledger.
func (s *Server) Calls(m Match) []Call {
	found, _ := s.ledger.find(m)
	return found
}

// PerAttempt counts requests by attempt id.
func (s *Server) PerAttempt() map[string]int {
	counts := map[string]int{}
	for _, c := range s.Ledger() {
		counts[c.Ask.Attempt]++
	}
	return counts
}

// Await waits until n requests that match have arrived. Its error says how many
// had.
func (s *Server) Await(ctx context.Context, m Match, n int) error {
	return s.await(ctx, m, n, "arrived", func(Call) bool { return true })
}

// AwaitEnd waits until n requests that match are over: answered, cut, or left by
// their client.
func (s *Server) AwaitEnd(ctx context.Context, m Match, n int) error {
	return s.await(ctx, m, n, "ended", func(c Call) bool { return !c.Ended.IsZero() })
}

func (s *Server) await(ctx context.Context, m Match, n int, what string, holds func(Call) bool) error {
	for {
		found, changed := s.ledger.find(m)
		found = slices.DeleteFunc(found, func(c Call) bool { return !holds(c) })
		if len(found) >= n {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("stand-in %s: %d of %d calls %s: %w", s.options.Name, len(found), n, what, ctx.Err())
		}
	}
}
