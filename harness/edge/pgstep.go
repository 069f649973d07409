package edge

import (
	"bufio"
	"encoding/binary"
	"errors"
	"os"
	"time"
)

// Steps is asked before the statements of a service go on, one by one. What it is
// asked waits until the answer, or until gone is closed: then the connection has
// ended.
type Steps interface {
	// Leave is asked before a statement leaves for the server, when the server has
	// done all that was sent on that connection before.
	Leave(s Statement, gone <-chan struct{})
	// Answer is asked when the server has answered all that was sent on a connection,
	// before the service hears of it. idle: no transaction is open on it.
	Answer(conn int64, idle bool, gone <-chan struct{})
	// Gone is told that a connection has ended. It must not wait.
	Gone(conn int64)
}

// Statement is a statement that stands at the relay.
type Statement struct {
	Conn    int64 // its connection through the relay, from 1
	Backend int   // the server's process
	SQL     string
	Values  [][]byte // what is bound to it, as it travels; nil for NULL
	Simple  bool     // sent as text: it may hold several statements, which go on as one
}

// Step asks s before every statement from now on, nobody when s is nil. BEGIN is
// not asked about, since it does nothing by itself: it goes on with the statement
// behind it. Nor is what the server skips behind an error.
func (p *Postgres) Step(s Steps) {
	if s == nil {
		p.steps.Store(nil)
		return
	}
	p.steps.Store(&s)
}

// step asks before f, if it is a statement. It returns false when the connection is
// at its end.
func (c *pgConn) step(s Steps, f frame, from *bufio.Reader, to *bufio.Writer) bool {
	st := Statement{Conn: c.id}
	switch f.typ {
	case 'B':
		c.mu.Lock()
		st.SQL = c.explain[f.bound()]
		c.mu.Unlock()
		st.Values = f.values()
	case 'Q':
		st.SQL, st.Simple = f.query(), true
	default:
		return true
	}
	if word := keyword(st.SQL); word == "" || word == "BEGIN" || word == "START" {
		return true
	}
	c.mu.Lock()
	owes := len(c.owed.list) > 0
	c.mu.Unlock()
	if _ = to.Flush(); owes && !c.drained(to) {
		return false
	}
	c.mu.Lock()
	st.Backend = int(c.pid)
	skipped := c.skips
	c.mu.Unlock()
	if skipped {
		return true
	}
	back := c.watchClient(from)
	s.Leave(st, c.gone)
	back()
	select {
	case <-c.gone:
		return false
	default:
		return true
	}
}

// watchClient ends the connection when the service leaves, until back is called. So
// long nobody else may read from it.
func (c *pgConn) watchClient(from *bufio.Reader) (back func()) {
	if from.Buffered() > 0 {
		return func() {}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		if _, err := from.Peek(1); err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			c.close()
		}
	}()
	return func() {
		_ = c.client.SetReadDeadline(time.Unix(1, 0))
		<-done
		_ = c.client.SetReadDeadline(time.Time{})
	}
}

// settled says whether the server has answered all that was sent, and whether no
// transaction is open then.
func (c *pgConn) settled() (all, idle bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.owed.list) == 0, !c.busy
}

// values are the parameters of a Bind message.
func (f frame) values() [][]byte {
	_, rest, ok := cstring(f.body) // the portal
	if ok {
		_, rest, ok = cstring(rest) // the statement
	}
	count := func() (n int) {
		if len(rest) < 2 {
			ok = false
			return 0
		}
		n, rest = int(binary.BigEndian.Uint16(rest)), rest[2:]
		return n
	}
	if !ok {
		return nil
	}
	if formats := 2 * count(); len(rest) >= formats {
		rest = rest[formats:]
	} else {
		return nil
	}
	var values [][]byte
	for range count() {
		if len(rest) < 4 {
			return values
		}
		n := int(int32(binary.BigEndian.Uint32(rest)))
		rest = rest[4:]
		switch {
		case n < 0:
			values = append(values, nil)
		case n <= len(rest):
			values, rest = append(values, rest[:n]), rest[n:]
		default:
			return values
		}
	}
	return values
}
