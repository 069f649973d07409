package standin

import (
	"net/http"
	"path"
	"slices"
	"sync"
)

// keeper is a dialect whose provider works in the background: it keeps what it
// was asked under an id, GET .../{id} tells how it stands and POST .../{id}/cancel
// ends it.
type keeper interface {
	dialect
	// standing renders work that has not ended well: queued, in_progress, cancelled.
	standing(id string, a Ask, status string) Reply
}

// work is what a provider keeps. The gates of its call hold it back.
type work struct {
	id        string
	ask       Ask
	gates     []*Gate
	script    Answer
	fault     *Fault
	cancelled bool
	lost      bool
	questions int
}

func (w *work) done() bool {
	return !slices.ContainsFunc(w.gates, func(g *Gate) bool { return !g.open() })
}

type works struct {
	mu   sync.Mutex
	list []*work
}

func (k *works) keep(w *work) {
	if !w.ask.Stream { // else the stream passes the gates
		for _, g := range w.gates {
			g.reached()
		}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.list = append(k.list, w)
}

// change does something with the works that match, and returns how many those
// are.
func (k *works) change(m Match, do func(*work)) int {
	k.mu.Lock()
	defer k.mu.Unlock()
	n := 0
	for _, w := range k.list {
		if m.holds(w.ask) {
			do(w)
			n++
		}
	}
	return n
}

// Lose has the provider forget background work that matches: it knows no such id
// any more. It returns how much work that was.
func (s *Server) Lose(m Match) int { return s.works.change(m, func(w *work) { w.lost = true }) }

// Questions counts how often background work that matches was asked for. They are
// no calls: the ledger does not hold them.
func (s *Server) Questions(m Match) int {
	n := 0
	s.works.change(m, func(w *work) { n += w.questions })
	return n
}

// answerQuestion answers a request about background work, if r is one.
func (s *Server) answerQuestion(w http.ResponseWriter, r *http.Request) bool {
	k, ok := s.dialect.(keeper)
	dir, last := path.Split(r.URL.Path)
	cancels := r.Method == http.MethodPost && last == "cancel"
	if cancels {
		last = path.Base(dir)
	}
	if !ok || !cancels && r.Method != http.MethodGet {
		return false
	}
	reply := s.standingOf(k, last, cancels)
	p := &player{w: w, closing: s.closing, gone: r.Context().Done(), last: func(bool) {}}
	p.play(reply, Answer{})
	return true
}

func (s *Server) standingOf(k keeper, id string, cancels bool) Reply {
	s.works.mu.Lock()
	defer s.works.mu.Unlock()
	i := slices.IndexFunc(s.works.list, func(w *work) bool { return w.id == id && !w.lost })
	if i < 0 {
		return k.failure(Failure{Status: http.StatusNotFound, Code: "not_found", Message: "no response with this id"})
	}
	w := s.works.list[i]
	if w.questions++; cancels && !w.done() {
		w.cancelled = true
	}
	switch {
	case w.cancelled:
		return k.standing(id, w.ask, "cancelled")
	case !w.done():
		return k.standing(id, w.ask, "in_progress")
	}
	whole := w.ask
	whole.Stream = false
	reply, _ := s.compose(id, whole, nil, w.script, w.fault)
	return reply
}
