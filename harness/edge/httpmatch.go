package edge

import (
	"bytes"
	"strconv"
	"strings"
	"sync"
)

// Message picks HTTP/1.1 messages of one direction by their head.
type Message struct {
	// Holds are texts that the head (first line and headers) must hold, case
	// included: "POST /v1/jobs HTTP", "Idempotency-Key: k-1".
	Holds []string
	// Nth picks the nth that matches, counted over all connections of the
	// proxy, from 1; 0 picks the first.
	Nth int
}

// counter counts matching messages over all connections of a proxy.
type counter struct {
	mu   sync.Mutex
	seen int
}

// is says whether a head is the one that m picks.
func (c *counter) is(m Message, head []byte) bool {
	for _, text := range m.Holds {
		if !bytes.Contains(head, []byte(text)) {
			return false
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen++
	return c.seen == max(m.Nth, 1)
}

// CutMessage closes the connection at the message that m picks: nothing of it
// passes, and everything before it does. told, which may be nil, hears of it
// before the other side can. It needs Toxiproxy inside the process.
func CutMessage(s Stream, m Message, told func()) Toxic {
	count := &counter{}
	return Toxic{Type: "cut-message", Stream: s, pipe: func(l *link) {
		p := &messages{}
		l.pass(func(data []byte) ([]byte, bool) {
			return p.split(data, func(head []byte) bool {
				hit := count.is(m, head)
				if hit && told != nil {
					told()
				}
				return !hit
			})
		})
	}}
}

// HoldMessage keeps the message that m picks at g until it is released.
// Messages behind it on the same connection wait too; others pass.
func (g *Gate) HoldMessage(s Stream, m Message) Toxic {
	count := &counter{}
	return Toxic{Type: "hold-message", Stream: s, pipe: func(l *link) {
		p := &messages{}
		l.pass(func(data []byte) ([]byte, bool) {
			on := true
			out, _ := p.split(data, func(head []byte) bool {
				if !count.is(m, head) {
					return true
				}
				g.reached()
				select {
				case <-g.released:
				case <-l.quit:
					on = false
				}
				return on
			})
			return out, on
		})
	}}
}

// messages finds where HTTP/1.1 messages begin in one direction of a
// connection. Heads are kept back until they are whole; bodies pass as they
// come.
type messages struct {
	head    []byte // of the message that is arriving
	body    int64  // bytes of the body still to come; -1: until the end of the connection
	chunked *chunks
	opaque  bool // not HTTP: everything passes
}

// maxHead bounds a head; what is longer is not taken for HTTP.
const maxHead = 64 << 10

// split returns what of data may pass now. begin is told each whole head, and
// nothing from there on passes when it returns false; then whole is false.
func (p *messages) split(data []byte, begin func(head []byte) bool) (out []byte, whole bool) {
	for len(data) > 0 {
		switch {
		case p.opaque || p.body < 0:
			return append(out, data...), true
		case p.chunked != nil:
			n, done := p.chunked.take(data)
			out, data = append(out, data[:n]...), data[n:]
			if done {
				p.chunked = nil
			}
		case p.body > 0:
			n := min(p.body, int64(len(data)))
			out, data = append(out, data[:n]...), data[n:]
			p.body -= n
		default:
			p.head, data = append(p.head, data...), nil
			end := bytes.Index(p.head, []byte("\r\n\r\n"))
			if end < 0 {
				if p.opaque = len(p.head) > maxHead; p.opaque {
					out, p.head = append(out, p.head...), nil
				}
				continue
			}
			head := p.head[:end+4]
			data = p.head[end+4:]
			p.head = nil
			if !begin(head) {
				return out, false
			}
			out = append(out, head...)
			p.expect(head)
		}
	}
	return out, true
}

// expect reads from a head how long its body is (RFC 9112, section 6).
func (p *messages) expect(head []byte) {
	lines := strings.Split(string(head), "\r\n")
	response := strings.HasPrefix(lines[0], "HTTP/")
	length, given := int64(0), false
	for _, line := range lines[1:] {
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		switch strings.ToLower(name) {
		case "transfer-encoding":
			if strings.HasSuffix(strings.ToLower(value), "chunked") {
				p.chunked = &chunks{}
				return
			}
		case "content-length":
			n, err := strconv.ParseInt(value, 10, 64)
			p.opaque = err != nil || n < 0
			length, given = n, true
		}
	}
	p.body = length
	if response && !given {
		status := lines[0][min(len(lines[0]), 9):]
		if !strings.HasPrefix(status, "1") && !strings.HasPrefix(status, "204") && !strings.HasPrefix(status, "304") {
			p.body = -1
		}
	}
}

// chunks finds the end of a chunked body.
type chunks struct {
	line []byte // that is arriving: a size, or a trailer
	data int64  // bytes of the chunk still to come, its line end included
	last bool   // the chunk of size 0 was seen: trailers follow
}

// take consumes from data and returns how many bytes, and whether the body
// ends there.
func (c *chunks) take(data []byte) (n int, done bool) {
	for n < len(data) {
		if c.data > 0 {
			step := min(c.data, int64(len(data)-n))
			n += int(step)
			c.data -= step
			continue
		}
		b := data[n]
		n++
		c.line = append(c.line, b)
		if b != '\n' {
			continue
		}
		line := strings.TrimSpace(string(c.line))
		c.line = nil
		if c.last {
			if line == "" {
				return n, true
			}
			continue
		}
		text, _, _ := strings.Cut(line, ";")
		size, err := strconv.ParseInt(strings.TrimSpace(text), 16, 63)
		switch {
		case err != nil || size < 0: // not chunked after all: nothing more is found in it
			c.data = 1 << 62
		case size == 0:
			c.last = true
		default:
			c.data = size + 2
		}
	}
	return n, false
}
