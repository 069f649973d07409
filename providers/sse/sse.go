// Package sse reads event streams (WHATWG HTML, server-sent events) byte for
// byte as the standard says, whatever the pieces in which they arrive.
//
// LF, CRLF and CR end a line. Comments and unknown fields are skipped. The data
// lines of one event are joined by a line feed; an event without a data line
// does not exist; what is not closed by a blank line when the stream ends is
// discarded. Any split of the same bytes gives the same events. One event may
// hold MaxEvent bytes.
package sse

import (
	"bytes"
	"errors"
	"iter"
)

// MaxEvent bounds the bytes of one event, lines and data alike.
const MaxEvent = 1 << 20

// ErrTooLong means that an event is longer than MaxEvent; nothing after it is read.
var ErrTooLong = errors.New("sse: event longer than 1 MiB")

// Event is one event that has data.
type Event struct {
	N      int    // number of the event, from 1
	Offset int    // byte in the stream at which its first line starts
	Type   string // the event field; "" where there is none (the standard's "message")
	ID     string // the last event id that the stream has set so far
	Data   []byte // not to be changed; valid for good, unless the parser lends it
}

// Parser takes a stream in pieces. The zero Parser is ready.
type Parser struct {
	// Lend saves the memory of events that are not kept: the Data of an event is
	// valid only until emit returns.
	Lend bool

	borrow bool // pieces stay as they are, so that events may hold parts of them

	line    []byte // the beginning of a line whose end has not arrived
	lineAt  int    // offset of that line
	at      int    // offset of the next byte
	afterCR bool   // the last byte was CR: an LF now belongs to it

	n       int
	size    int // bytes of the event's lines so far
	begun   bool
	eventAt int
	kind    string
	id      string
	data    []byte
	hasData bool
	err     error
}

// Feed reads the next piece and calls emit for each event that it completes. The
// only error is ErrTooLong, which stays.
func (p *Parser) Feed(piece []byte, emit func(Event)) error {
	ends := lineEnds{in: piece, feed: -1, ret: -1}
	for at := 0; at < len(piece) && p.err == nil; {
		if p.afterCR {
			p.afterCR = false
			if piece[at] == '\n' {
				at++
				p.at++
				p.lineAt = p.at
				continue
			}
		}
		end := ends.next(at)
		if end == len(piece) {
			p.keep(piece[at:])
			p.at += end - at
			break
		}
		whole, own := piece[at:end], false
		if len(p.line) > 0 {
			p.keep(whole)
			whole, own = p.line, true
		}
		if p.err == nil {
			p.take(whole, own, emit)
		}
		p.line = p.line[:0]
		p.afterCR = piece[end] == '\r'
		p.at += end + 1 - at
		at = end + 1
		p.lineAt = p.at
	}
	return p.err
}

// lineEnds finds the ends of lines. It looks at each byte once for each of the two
// characters that end one, however many lines there are.
type lineEnds struct {
	in        []byte
	feed, ret int // the next LF and CR, len(in) for none; outdated where they lie behind
}

// next is the first end of a line at from or after it, len(in) for none.
func (e *lineEnds) next(from int) int {
	if e.feed < from {
		e.feed = indexFrom(e.in, from, '\n')
	}
	if e.ret < from {
		e.ret = indexFrom(e.in, from, '\r')
	}
	return min(e.feed, e.ret)
}

func indexFrom(b []byte, from int, c byte) int {
	if i := bytes.IndexByte(b[from:], c); i >= 0 {
		return from + i
	}
	return len(b)
}

// Pending reports whether a line or an event has begun and is not complete: the
// stream, if it ends here, was cut inside.
func (p *Parser) Pending() bool { return len(p.line) > 0 || p.hasData }

func (p *Parser) keep(part []byte) {
	if p.size+len(p.line)+len(part) > MaxEvent {
		p.err = ErrTooLong
		return
	}
	p.line = append(p.line, part...)
}

var byteOrderMark = []byte("\xef\xbb\xbf")

// take reads a whole line; own tells one that lies in the memory of the parser.
func (p *Parser) take(line []byte, own bool, emit func(Event)) {
	if p.lineAt == 0 {
		line = bytes.TrimPrefix(line, byteOrderMark)
	}
	if len(line) == 0 {
		p.dispatch(emit)
		return
	}
	if p.size += len(line); p.size > MaxEvent {
		p.err = ErrTooLong
		return
	}
	if !p.begun {
		p.begun, p.eventAt = true, p.lineAt
	}
	name, value := line, line[len(line):]
	if colon := bytes.IndexByte(line, ':'); colon >= 0 {
		name, value = line[:colon], line[colon+1:]
	}
	if len(value) > 0 && value[0] == ' ' {
		value = value[1:]
	}
	switch string(name) {
	case "": // a comment
		if !p.hasData && p.kind == "" {
			p.begun, p.size = false, 0 // comments for ever are no event
		}
	case "data":
		switch {
		case p.hasData:
			p.data = append(append(p.data, '\n'), value...)
		case p.borrow && !own:
			p.data = value[:len(value):len(value)] // what is appended goes elsewhere
		default:
			p.data = append(p.data, value...)
		}
		p.hasData = true
	case "event":
		p.kind = string(value)
	case "id":
		if bytes.IndexByte(value, 0) < 0 {
			p.id = string(value)
		}
	}
}

func (p *Parser) dispatch(emit func(Event)) {
	if p.hasData {
		p.n++
		emit(Event{N: p.n, Offset: p.eventAt, Type: p.kind, ID: p.id, Data: p.data[:len(p.data):len(p.data)]})
		if p.Lend {
			p.data = p.data[:0]
		} else {
			p.data = nil
		}
	}
	p.kind, p.hasData, p.begun, p.size = "", false, false, 0
}

// Events reads a whole stream, which stays as it is while its events are used: most
// of them are parts of it. The error, ErrTooLong, comes last and with an empty event.
func Events(stream []byte) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		p := Parser{borrow: true}
		for len(stream) > 0 {
			// Piece by piece, so that a reader that stops early costs little.
			piece := stream[:min(len(stream), 4096)]
			stream = stream[len(piece):]
			stopped := false
			err := p.Feed(piece, func(e Event) {
				stopped = stopped || !yield(e, nil)
			})
			if stopped {
				return
			}
			if err != nil {
				yield(Event{}, err)
				return
			}
		}
	}
}
