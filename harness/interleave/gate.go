package interleave

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/interlock-harness/interlock/harness/edge"
)

// state of one of the two as the scheduler sees it.
type state byte

const (
	idle     state = iota // not begun
	thinking              // the service is at work on it
	aside                 // for so long that it probably waits for the other inside the service
	standing              // a statement of it stands at the relay
	running               // its statement is at the server
	waiting               // and waits there for a lock of the other
	answered              // that statement was answered, and the service has not heard of it yet
	ended
)

// session is one of the two operations while it is played.
type session struct {
	index   int
	request bool
	state   state
	since   time.Time      // it came into that state
	conn    int64          // on which a transaction of it is open; 0 for none
	last    int64          // on which it sent something last
	backend int            // that serves it
	next    edge.Statement // stands at the relay
	held    chan struct{}  // closed to let that go
	answer  chan struct{}  // closed to let the service hear the answer
	sent    int            // statements
	blocked bool           // the last one had to wait
}

func (s *session) become(st state) { s.state, s.since = st, time.Now() }

// gate is what the relay asks. It knows whose statement is whose, and holds those of
// the two; see the package's rules.
type gate struct {
	mu       sync.Mutex
	changed  chan struct{} // receives after something changed
	sessions []*session    // of the schedule that is played; nil while none is
	owner    map[int64]*session
	names    []name
	backends map[int64]int // of every connection that was seen
	trouble  string        // a statement was taken for one of the two that was none

	background map[string]bool // statements that name a job at rest, without their values
	resting    map[*scene][]name
	alone      map[int64]string // statement that named a resting job, as long as it is the only one of its transaction
}

func newGate() *gate {
	return &gate{changed: make(chan struct{}, 1), owner: map[int64]*session{}, backends: map[int64]int{}, background: map[string]bool{},
		resting: map[*scene][]name{}, alone: map[int64]string{}}
}

func (g *gate) signal() {
	select {
	case g.changed <- struct{}{}:
	default:
	}
}

// Leave implements edge.Steps.
func (g *gate) Leave(st edge.Statement, gone <-chan struct{}) {
	g.mu.Lock()
	g.backends[st.Conn] = st.Backend
	s := g.whose(st)
	if s == nil {
		g.mu.Unlock()
		return
	}
	if s.answer != nil { // it was sent together with the one that was answered
		close(s.answer)
		s.answer = nil
	}
	held := make(chan struct{})
	s.next, s.conn, s.last, s.backend, s.held = st, st.Conn, st.Conn, st.Backend, held
	s.become(standing)
	g.owner[st.Conn] = s
	g.mu.Unlock()
	g.signal()
	select {
	case <-held:
	case <-gone:
		g.mu.Lock()
		if s.held == held {
			s.held = nil
			s.become(thinking)
		}
		g.mu.Unlock()
		g.signal()
	}
}

// Answer implements edge.Steps.
func (g *gate) Answer(conn int64, free bool, gone <-chan struct{}) {
	g.mu.Lock()
	if text := g.alone[conn]; text != "" && free {
		g.background[text] = true
		delete(g.alone, conn)
	}
	s := g.owner[conn]
	if s == nil {
		g.mu.Unlock()
		return
	}
	if free {
		delete(g.owner, conn)
		if s.conn == conn {
			s.conn = 0
		}
	}
	var answer chan struct{}
	switch s.state {
	case running:
		s.become(thinking)
	case waiting: // the other is at work: one at a time, so that it is known who sends what
		answer = make(chan struct{})
		s.answer = answer
		s.become(answered)
	}
	g.mu.Unlock()
	g.signal()
	if answer == nil {
		return
	}
	select {
	case <-answer:
	case <-gone:
	}
}

// Gone implements edge.Steps.
func (g *gate) Gone(conn int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.backends, conn)
	delete(g.alone, conn)
	s := g.owner[conn]
	delete(g.owner, conn)
	if s != nil && s.conn == conn {
		s.conn = 0
		if s.state == running || s.state == waiting || s.state == answered {
			s.become(thinking)
		}
		g.signal()
	}
}

// whose says whose statement it is; nil for nobody's. Locked.
func (g *gate) whose(st edge.Statement) *session {
	if s := g.owner[st.Conn]; s != nil {
		return s
	}
	text := plain(st.SQL)
	g.rest(st, text)
	if g.sessions == nil || g.background[text] || !mentions(st, g.names) {
		return nil
	}
	var who *session
	for _, s := range g.sessions {
		if s.state != thinking && s.state != aside {
			continue
		}
		if who == nil || s.last == st.Conn || s.state == thinking && who.state == aside && who.last != st.Conn {
			who = s
		}
	}
	if who == nil {
		for _, s := range g.sessions { // it was taken for over too soon
			if s.state == ended && !s.request && s.last == st.Conn {
				g.trouble = "an answer of the provider led to one more statement, " + describe(st.SQL) + ", after it seemed to be over"
				return s
			}
		}
	}
	return who
}

// rest learns what names a job at rest and is a transaction of its own: a heartbeat,
// or the like. Locked.
func (g *gate) rest(st edge.Statement, text string) {
	if _, more := g.alone[st.Conn]; more {
		delete(g.alone, st.Conn)
		return
	}
	for _, names := range g.resting {
		if mentions(st, names) {
			g.alone[st.Conn] = text
			return
		}
	}
}

// letGo lets the statement of s go. Locked.
func (g *gate) letGo(s *session) {
	for _, v := range s.next.Values { // such as the id of what it makes
		if text := uuidOf(v); text != "" && !slices.ContainsFunc(g.names, func(n name) bool { return n.text == text }) {
			g.names = append(g.names, namesOf([]string{text})...)
		}
	}
	s.sent++
	s.blocked = false
	held := s.held
	s.held = nil
	s.become(running)
	close(held)
}

// hear lets the service hear the answer. Locked.
func (g *gate) hear(s *session) {
	if s.answer != nil {
		close(s.answer)
		s.answer = nil
	}
	s.become(thinking)
}

// over ends a session. What stands in its name was not its own. Locked.
func (g *gate) over(s *session) {
	if s.state == standing {
		g.trouble = "a statement, " + describe(s.next.SQL) + ", came while the answer of the request was under way, and was not of it"
		close(s.held)
		s.held = nil
	}
	if s.answer != nil {
		close(s.answer)
		s.answer = nil
	}
	for conn, of := range g.owner {
		if of == s {
			delete(g.owner, conn)
		}
	}
	s.conn = 0
	s.become(ended)
}

// name is a value by which the statements of a schedule are known.
type name struct {
	text   string
	raw    []byte // a UUID as it travels in binary
	number int64  // a number, in which case it must be the whole value
	short  bool   // too short to be looked for inside a text
}

// uuidOf is the UUID that a bound value is, empty for any other.
func uuidOf(value []byte) string {
	text := string(value)
	if len(value) == 36 {
		if raw, err := hex.DecodeString(strings.ReplaceAll(text, "-", "")); err == nil && len(raw) == 16 {
			return text
		}
	}
	if len(value) != 16 || value[8]&0xc0 != 0x80 || value[6]>>4 == 0 || value[6]>>4 > 8 { // RFC 9562: variant and version
		return ""
	}
	text = hex.EncodeToString(value)
	return text[:8] + "-" + text[8:12] + "-" + text[12:16] + "-" + text[16:20] + "-" + text[20:]
}

func namesOf(texts []string) []name {
	var all []name
	for _, text := range texts {
		n := name{text: text, short: len(text) < 12, number: -1}
		if raw, err := hex.DecodeString(strings.ReplaceAll(text, "-", "")); err == nil && len(raw) == 16 {
			n.raw = raw
		}
		if v, err := strconv.ParseInt(text, 10, 64); err == nil && v >= 0 {
			n.number = v
		}
		all = append(all, n)
	}
	return all
}

// mentions says whether a statement names one of the values, in its text or in what
// is bound to it.
func mentions(st edge.Statement, names []name) bool {
	for _, n := range names {
		if literal(st.SQL, n) {
			return true
		}
		for _, v := range st.Values {
			if n.is(v) {
				return true
			}
		}
	}
	return false
}

func literal(sql string, n name) bool {
	if !n.short {
		return strings.Contains(sql, n.text)
	}
	return n.number < 0 && strings.Contains(sql, "'"+n.text+"'") ||
		n.number >= 0 && strings.Contains(" "+strings.NewReplacer("(", " ", ")", " ", ",", " ", ";", " ", "=", " ", "'", " ", "\n", " ").Replace(sql)+" ", " "+n.text+" ")
}

func (n name) is(value []byte) bool {
	switch {
	case string(value) == n.text, !n.short && bytes.Contains(value, []byte(n.text)), n.raw != nil && bytes.Contains(value, n.raw):
		return true
	case n.number >= 0 && len(value) == 8:
		return int64(binary.BigEndian.Uint64(value)) == n.number
	case n.number >= 0 && len(value) == 4:
		return int64(binary.BigEndian.Uint32(value)) == n.number
	}
	return false
}
