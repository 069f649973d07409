package standin

import (
	"slices"
	"strings"
	"sync"
)

// Match picks calls. Fields that are set must all hold; the zero Match picks
// every call.
type Match struct {
	Job     string // X-Job-Id
	Attempt string // X-Attempt-Id
	Text    string // occurs in the prompt, for example the input of the job
	Nth     int    // only the nth call that matches the rest, from 1, counted since the rule was made
}

func (m Match) holds(a Ask) bool {
	return (m.Job == "" || m.Job == a.Job) &&
		(m.Attempt == "" || m.Attempt == a.Attempt) &&
		(m.Text == "" || a.holds(m.Text))
}

// rules are the gates and scripts of a server. Newer rules stand above older.
type rules struct {
	mu     sync.Mutex
	list   []*rule
	closed bool
}

type rule struct {
	match  Match
	seen   int
	gate   *Gate
	answer *Answer
	each   func(Ask, *Gate) // told of the gate at which each call is held
	own    []*Gate          // those gates, but for those that were released
}

// release lets go of what the rule holds.
func (n *rule) release() {
	if n.gate != nil {
		n.gate.Release()
	}
	for _, g := range n.own {
		g.Release()
	}
}

func (r *rules) add(n *rule) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed && n.gate != nil {
		n.gate.Release()
	}
	r.list = append(r.list, n)
}

func (r *rules) clear() {
	r.mu.Lock()
	list := r.list
	r.list = nil
	r.mu.Unlock()
	for _, n := range list {
		n.release()
	}
}

// forget drops the rules for calls with text, and releases their gates.
func (r *rules) forget(text string) {
	r.drop(func(n *rule) bool { return strings.Contains(n.match.Text, text) })
}

func (r *rules) drop(which func(*rule) bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.list = slices.DeleteFunc(r.list, func(n *rule) bool {
		dropped := which(n)
		if dropped {
			n.release()
		}
		return dropped
	})
}

func (r *rules) releaseAll() {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	r.clear()
}

// of returns what applies to one call: every gate that matches, and the newest
// script that does. Each rule is asked once per call, so that Nth counts.
func (r *rules) of(a Ask) (gates []*Gate, answer *Answer) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := len(r.list) - 1; i >= 0; i-- {
		n := r.list[i]
		if !n.match.holds(a) {
			continue
		}
		n.seen++
		if n.match.Nth != 0 && n.match.Nth != n.seen {
			continue
		}
		switch {
		case n.each != nil:
			g := newGate()
			if r.closed {
				g.Release()
			}
			n.own = append(slices.DeleteFunc(n.own, (*Gate).open), g)
			gates = append(gates, g)
			n.each(a, g)
		case n.gate != nil:
			gates = append(gates, n.gate)
		case answer == nil:
			answer = n.answer
		}
	}
	return gates, answer
}

// Script answers the calls that match as a says. A newer script stands above an
// older one.
func (s *Server) Script(m Match, a Answer) { s.rules.add(&rule{match: m, answer: &a}) }

// Hold keeps the calls that match until the gate is released: before the first
// byte of the answer, or at the point that is given.
func (s *Server) Hold(m Match, at ...Point) *Gate {
	g := newGate()
	if len(at) > 0 {
		g.at = at[0]
	}
	s.rules.add(&rule{match: m, gate: g})
	return g
}

// HoldEach keeps every call that matches at a gate of its own, so that each can
// be let go by itself, in any order. take is told of each call and its gate; it
// must not call the server. The returned function ends the rule and releases
// what it still holds.
func (s *Server) HoldEach(m Match, take func(Ask, *Gate)) (end func()) {
	n := &rule{match: m, each: take}
	s.rules.add(n)
	return func() { s.rules.drop(func(o *rule) bool { return o == n }) }
}

// Forget drops all that concerns calls with text in their prompt, such as the
// one word by which many users of one stand-in tell their calls apart: gates,
// which are released, scripts, and the calls in the ledger.
func (s *Server) Forget(text string) {
	s.rules.forget(text)
	s.ledger.forget(text)
}

// Reset releases all gates, forgets all scripts and empties the ledger.
func (s *Server) Reset() {
	s.rules.clear()
	s.ledger.reset()
}
