package edge

import (
	"bufio"
	"encoding/binary"
	"net"
	"strings"
	"sync"
)

// pgConn is one connection through the relay: one goroutine a direction.
type pgConn struct {
	relay          *Postgres
	id             int64
	client, server net.Conn
	gone           chan struct{}
	once           sync.Once

	mu      sync.Mutex
	pid     uint32            // of the backend, from BackendKeyData
	idle    bool              // no transaction is open, as the server said last
	explain map[string]string // prepared statements: name to SQL
	sights  map[*Rule]*sight  // what the open transaction has shown
	commit  *Rule             // acts when the server says that this transaction is done
	single  bool              // that transaction is one statement without BEGIN
	failed  bool              // the server refused something in it
	owed    owed              // what the server has yet to answer
	kept    []frame           // answers withheld until a single statement is committed
	busy    bool              // something was run since the server said last that no transaction is open
	skips   bool              // the server skips what comes until the end of the series: it refused something in it
}

func newPGConn(relay *Postgres, client, server net.Conn) *pgConn {
	return &pgConn{relay: relay, id: relay.served.Add(1), client: client, server: server, gone: make(chan struct{}),
		explain: map[string]string{}, sights: map[*Rule]*sight{}}
}

func (c *pgConn) close() {
	c.once.Do(func() {
		close(c.gone)
		_ = c.client.Close()
		_ = c.server.Close()
	})
}

// reset ends both sides with RST.
func (c *pgConn) reset() {
	if tcp, ok := c.client.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	c.close()
}

func (c *pgConn) run() {
	defer c.close()
	from, to := bufio.NewReaderSize(c.client, 16<<10), bufio.NewWriterSize(c.server, 16<<10)
	if !c.startup(from, to) {
		return
	}
	var back sync.WaitGroup
	back.Go(func() {
		c.backend(bufio.NewReaderSize(c.server, 16<<10), bufio.NewWriterSize(c.client, 16<<10))
		c.close()
	})
	c.frontend(from, to)
	c.close()
	back.Wait()
	if steps := c.relay.steps.Load(); steps != nil {
		(*steps).Gone(c.id)
	}
	if c.commit != nil { // its transaction ended with the connection
		c.commit.giveBack()
	}
}

// startup passes the untyped messages. It returns false when the connection
// is at its end.
func (c *pgConn) startup(from *bufio.Reader, to *bufio.Writer) bool {
	for {
		f, err := readStartup(from)
		if err != nil {
			return false
		}
		switch f.code() {
		case codeSSL, codeGSS:
			if _, err := c.client.Write([]byte{'N'}); err != nil {
				return false
			}
			continue
		case codeCancel:
			_ = f.write(to)
			_ = to.Flush()
			return false
		}
		return f.write(to) == nil && to.Flush() == nil
	}
}

// frontend passes what the service sends.
func (c *pgConn) frontend(from *bufio.Reader, to *bufio.Writer) {
	for {
		f, err := readFrame(from)
		if err != nil {
			return
		}
		if s := c.relay.stall.Load(); s != nil && !s.wait(c) {
			return
		}
		if steps := c.relay.steps.Load(); steps != nil && !c.step(*steps, f, from, to) {
			return
		}
		if rule := c.look(f); rule != nil && !c.act(rule, to) {
			return
		}
		c.mu.Lock()
		c.owed.asked(f.typ)
		c.skips = c.skips && f.typ != 'S'
		c.busy = c.busy || f.typ == 'E' || f.typ == 'Q'
		c.mu.Unlock()
		if f.write(to) != nil {
			return
		}
		if from.Buffered() == 0 && to.Flush() != nil {
			return
		}
	}
}

// act does what rule says before a message leaves for the server. It returns
// false when the connection is at its end.
func (c *pgConn) act(rule *Rule, to *bufio.Writer) bool {
	_ = to.Flush()
	if rule.Deed == Hold && !c.drained(to) {
		return false
	}
	rule.fire(c.backendPID(), "stopped "+string(rule.Place))
	c.relay.remove(rule)
	switch rule.Deed {
	case Hold:
		select {
		case <-rule.released:
			return true
		case <-c.gone:
			return false
		}
	case RST:
		c.reset()
	default:
		c.close()
	}
	return false
}

// drained waits until the server has done what was sent before: statements that
// travel together with a held COMMIT must have run when the rule says that it is
// held. It returns false when the connection is at its end.
func (c *pgConn) drained(to *bufio.Writer) bool {
	if (frame{typ: 'H'}).write(to) != nil || to.Flush() != nil { // Flush: answer without a Sync
		return false
	}
	c.mu.Lock()
	nothing := c.owed.nothing()
	c.mu.Unlock()
	select {
	case <-nothing:
		return true
	case <-c.gone:
		return false
	}
}

// look takes note of a message of the service and returns the rule that acts
// before it leaves, if any.
func (c *pgConn) look(f frame) *Rule {
	var sql string
	switch f.typ {
	case 'P': // Parse
		if name, text, err := f.parse(); err == nil {
			c.mu.Lock()
			c.explain[name] = text
			c.mu.Unlock()
		}
		return nil
	case 'B': // Bind
		c.mu.Lock()
		sql = c.explain[f.bound()]
		c.mu.Unlock()
	case 'Q': // Query
		sql = f.query()
	case 'S': // Sync: ends a transaction of one statement
	default:
		return nil
	}
	rules := c.relay.current()
	c.mu.Lock()
	defer c.mu.Unlock()
	if word := keyword(sql); word == "BEGIN" || word == "START" {
		c.idle = false
		return nil
	}
	if len(rules) == 0 {
		return nil
	}
	if f.typ == 'S' {
		if c.commit != nil && c.single && c.commit.Place == BeforeCommit {
			return c.commit
		}
		return nil
	}
	if isCommit(sql) {
		return c.committing(rules)
	}
	for _, r := range rules {
		s := c.sights[r]
		if s == nil {
			s = &sight{}
			c.sights[r] = s
		}
		if !r.see(s, sql, f.body) {
			continue
		}
		if r.Place == BeforeStatement {
			if r.take() {
				return r
			}
			continue
		}
		// Without BEGIN the statement is its own transaction.
		if c.idle && c.commit == nil && r.take() {
			c.commit, c.single, c.failed = r, true, false
			if f.typ == 'Q' && r.Place == BeforeCommit { // there is no later message to stop
				return r
			}
		}
	}
	return nil
}

// committing is called, locked, when the service sends a COMMIT.
func (c *pgConn) committing(rules []*Rule) *Rule {
	for _, r := range rules {
		s := c.sights[r]
		if r.Place == BeforeStatement || s == nil || !r.see(s, "", nil) || !r.take() {
			continue
		}
		if r.Place == BeforeCommit {
			return r
		}
		c.commit, c.single, c.failed = r, false, false
		return nil
	}
	return nil
}

// backend passes what the server sends.
func (c *pgConn) backend(from *bufio.Reader, to *bufio.Writer) {
	for {
		f, err := readFrame(from)
		if err != nil {
			return
		}
		pass, rule := c.answer(f)
		if steps := c.relay.steps.Load(); steps != nil && ends(f.typ) {
			if all, idle := c.settled(); all {
				(*steps).Answer(c.id, idle, c.gone)
			}
		}
		if rule != nil && !c.finish(rule, f, to) {
			return
		}
		for _, f := range pass {
			if f.write(to) != nil {
				return
			}
		}
		if from.Buffered() == 0 && to.Flush() != nil {
			return
		}
	}
}

// answer takes note of a message of the server. It returns the messages to
// pass on, after the rule that acts now, if any, has acted.
func (c *pgConn) answer(f frame) (pass []frame, rule *Rule) {
	c.mu.Lock()
	defer c.mu.Unlock()
	pass = []frame{f}
	c.owed.answered(f.typ)
	withhold := c.commit != nil && c.single && c.commit.Place == AfterCommit
	switch f.typ {
	case 'K': // BackendKeyData
		if len(f.body) >= 4 {
			c.pid = binary.BigEndian.Uint32(f.body)
		}
	case 'E': // ErrorResponse
		c.failed = true
		c.skips = len(c.owed.list) == 0 // nobody sent the end of the series yet
	case 'C': // CommandComplete
		if c.commit != nil && !c.single && c.commit.Place == AfterCommit && strings.HasPrefix(f.tag(), "COMMIT") {
			rule, c.commit = c.commit, nil
			return pass, rule
		}
	case 'Z': // ReadyForQuery
		c.idle = len(f.body) == 1 && f.body[0] == 'I'
		c.busy = !c.idle
		if !c.idle {
			return pass, nil
		}
		pass = append(c.kept, f)
		if c.commit != nil {
			if withhold && !c.failed {
				rule = c.commit
			} else {
				c.commit.giveBack() // it rolled back: wait for the next
			}
		}
		c.commit, c.single, c.failed, c.kept = nil, false, false, nil
		clear(c.sights)
		return pass, rule
	}
	if withhold { // its completion is no promise before ReadyForQuery: keep the order
		c.kept = append(c.kept, f)
		return nil, nil
	}
	return pass, nil
}

// finish does what rule says when the server has committed. It returns false
// when the connection is at its end.
func (c *pgConn) finish(rule *Rule, f frame, to *bufio.Writer) bool {
	if to.Flush() != nil {
		return false
	}
	said := "ReadyForQuery after the statement"
	if f.typ == 'C' {
		said = f.tag()
	}
	// The proof is kept before the service can notice anything.
	rule.fire(c.backendPID(), "the server had said "+said)
	c.relay.remove(rule)
	switch rule.Deed {
	case Hold:
		select {
		case <-rule.released:
			return true
		case <-c.gone:
			return false
		}
	case Half:
		_, _ = c.client.Write([]byte{f.typ, 0, 0})
	case RST:
		c.reset()
	}
	return false
}

func (c *pgConn) backendPID() uint32 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.pid
}
