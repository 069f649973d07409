package history

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"unicode/utf8"
)

var errForm = errors.New("not in the form the recorder writes (a field missing, twice, in other case, order or spacing)")

// line reads one event. It takes exactly what Record writes: fields in their
// order, each at most once, empty ones left out, strings escaped as the encoder
// escapes them. Anything else might read differently elsewhere.
type line struct {
	rest   []byte
	intern map[string]string
}

// readLine decodes text; intern keeps one copy of each name.
func readLine(text []byte, intern map[string]string) (Event, error) {
	var e Event
	if !utf8.Valid(text) || !json.Valid(text) {
		var any json.RawMessage
		if err := json.Unmarshal(text, &any); err != nil {
			return e, err // names the place
		}
		return e, errForm
	}
	l := &line{rest: text, intern: intern}
	var kind string
	ok := l.literal(`{"n":`) && l.number(&e.N, 1) && l.literal(`,"at_us":`) && l.number(&e.AtUS, 0) &&
		l.text(`,"scenario":`, &e.Scenario) && l.text(`,"lane":`, &e.Lane) && l.text(`,"actor":`, &e.Actor) &&
		l.literal(`,"kind":`) && l.quoted(&kind) &&
		l.text(`,"op":`, &e.Op) && l.count(`,"call":`, &e.Call) && l.text(`,"owner":`, &e.Owner) && l.text(`,"key":`, &e.Key) &&
		l.text(`,"job":`, &e.Job) && l.text(`,"attempt":`, &e.Attempt)
	status := int64(0)
	ok = ok && l.count(`,"status":`, &status) && l.data(&e.Data) && string(l.rest) == "}"
	e.Kind, e.Status = Kind(kind), int(status)
	switch {
	case !ok:
		return e, errForm
	case !known[e.Kind]:
		return e, errors.New("unknown kind " + strconv.Quote(kind))
	case e.Status > 999:
		return e, errors.New("a status out of range")
	}
	return e, nil
}

func (l *line) literal(s string) bool {
	if !bytes.HasPrefix(l.rest, []byte(s)) {
		return false
	}
	l.rest = l.rest[len(s):]
	return true
}

// number reads digits without a sign or leading zeros, at least least.
func (l *line) number(into *int64, least int64) bool {
	i := 0
	for i < len(l.rest) && l.rest[i] >= '0' && l.rest[i] <= '9' {
		i++
	}
	if i == 0 || i > 1 && l.rest[0] == '0' {
		return false
	}
	n, err := strconv.ParseInt(string(l.rest[:i]), 10, 64)
	l.rest = l.rest[i:]
	*into = n
	return err == nil && n >= least
}

// count reads a number that is left out where it is 0.
func (l *line) count(field string, into *int64) bool {
	return !l.literal(field) || l.number(into, 1)
}

// text reads a string that is left out where it is empty.
func (l *line) text(field string, into *string) bool {
	return !l.literal(field) || l.quoted(into) && *into != ""
}

// quoted reads a string.
func (l *line) quoted(into *string) bool {
	if len(l.rest) == 0 || l.rest[0] != '"' {
		return false
	}
	plain := true
	for i := 1; i < len(l.rest); i++ {
		switch c := l.rest[i]; {
		case c == '\\':
			plain = false
			i++
		case c < 0x20 || c >= 0x7f || c == '<' || c == '>' || c == '&':
			plain = false
		case c == '"':
			raw := l.rest[:i+1]
			l.rest = l.rest[i+1:]
			return l.string(raw, plain, into)
		}
	}
	return false
}

func (l *line) string(raw []byte, plain bool, into *string) bool {
	if plain {
		name, ok := l.intern[string(raw[1:len(raw)-1])]
		if !ok {
			name = string(raw[1 : len(raw)-1])
			l.intern[name] = name
		}
		*into = name
		return true
	}
	if json.Unmarshal(raw, into) != nil {
		return false
	}
	own, err := json.Marshal(*into)
	return err == nil && bytes.Equal(own, raw)
}

// data reads the object that ends the line.
func (l *line) data(into *json.RawMessage) bool {
	if !l.literal(`,"data":`) {
		return true
	}
	if len(l.rest) < 3 || l.rest[0] != '{' {
		return false
	}
	raw := l.rest[:len(l.rest)-1]
	l.rest = l.rest[len(raw):]
	own, err := json.Marshal(json.RawMessage(raw))
	*into = own
	return err == nil && bytes.Equal(own, raw)
}
