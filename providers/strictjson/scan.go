package strictjson

import (
	"bytes"
	"fmt"
	"strconv"
	"sync"
	"unicode/utf8"
)

// frame is one open array or object.
type frame struct {
	object bool
	keys   int                 // first of its keys in scanner.keys
	index  int                 // elements read so far (arrays)
	seen   map[string]struct{} // only for objects of many keys
	first  int                 // when building an array: its first element in scanner.values
	fields map[string]any      // when building an object
	name   string              // when building: the current key
}

// manyKeys is the number of keys from which a map finds repeated names faster
// than comparing with each.
const manyKeys = 12

type scanner struct {
	data   []byte
	pos    int
	limits Limits
	build  bool
	prefix bool // stop after the first value

	frames []frame
	keys   [][]byte // names of all open objects, in order; the last of a frame is the current one
	values []any    // when building: elements of all open arrays, in order
	room   []any    // when building: where the elements of finished arrays are put
	root   any
}

// space is what a scanner works with and no document keeps. It is used again, so
// that many small documents, and deep ones, cost no memory for it.
type space struct {
	frames []frame
	keys   [][]byte
	values []any
}

// Sizes of a space: those with which it begins, and those up to which it is kept.
const (
	usualDepth, keptDepth = 64, 64
	usualWidth, keptWidth = 64, 1024
)

var spaces = sync.Pool{New: func() any {
	return &space{make([]frame, 0, usualDepth), make([][]byte, 0, usualWidth), make([]any, 0, usualWidth)}
}}

// scan runs s in a space that it gives back without what it held of the document.
func (s *scanner) scan() *Error {
	in := spaces.Get().(*space)
	s.frames, s.keys, s.values = in.frames, in.keys, in.values
	err := s.run()
	if cap(s.frames) <= keptDepth && cap(s.keys) <= keptWidth && cap(s.values) <= keptWidth {
		clear(s.frames) // what is left of a document that was refused
		clear(s.keys[:cap(s.keys)])
		clear(s.values)
		in.frames, in.keys, in.values = s.frames[:0], s.keys[:0], s.values[:0]
		spaces.Put(in)
	}
	s.frames, s.keys, s.values = nil, nil, nil
	return err
}

// The automaton: what may come next.
type state int

const (
	wantValue        state = iota // a value
	wantFirstElement              // a value or ]
	wantFirstKey                  // a name or }
	wantKey                       // a name (after a comma)
	wantNext                      // comma or the closing bracket
)

func (s *scanner) run() *Error {
	if len(s.data) > s.limits.MaxBytes {
		return &Error{Kind: KindSize, Offset: s.limits.MaxBytes, Detail: fmt.Sprintf("more than %d bytes", s.limits.MaxBytes)}
	}
	s.space()
	if s.pos == len(s.data) {
		return &Error{Kind: KindEmpty, Offset: s.pos, Detail: "no value"}
	}
	if bytes.HasPrefix(s.data[s.pos:], []byte("\xef\xbb\xbf")) {
		return s.fail(KindSyntax, s.pos, "byte order mark before the value")
	}
	for next := wantValue; ; {
		s.space()
		if s.pos == len(s.data) {
			return s.fail(KindTruncated, s.pos, "the text ends before the value does")
		}
		var err *Error
		if next, err = s.step(next); err != nil {
			return err
		}
		if next == wantNext && len(s.frames) == 0 {
			break
		}
	}
	if s.prefix {
		return nil
	}
	s.space()
	if s.pos < len(s.data) {
		return s.fail(KindTrailing, s.pos, "more text after the value")
	}
	return nil
}

func (s *scanner) step(want state) (state, *Error) {
	c := s.data[s.pos]
	switch want {
	case wantNext:
		return s.separator(c)
	case wantFirstElement:
		if c == ']' {
			return s.close()
		}
	case wantFirstKey, wantKey:
		if c == '}' && want == wantFirstKey {
			return s.close()
		}
		return wantValue, s.key(c)
	}
	return s.value(c)
}

func (s *scanner) separator(c byte) (state, *Error) {
	top := &s.frames[len(s.frames)-1]
	switch {
	case c == ',' && top.object:
		s.pos++
		return wantKey, nil
	case c == ',':
		s.pos++
		top.index++
		return wantValue, nil
	case c == '}' && top.object, c == ']' && !top.object:
		return s.close()
	case top.object:
		return 0, s.unexpected("comma or } wanted")
	}
	return 0, s.unexpected("comma or ] wanted")
}

func (s *scanner) value(c byte) (state, *Error) {
	switch {
	case c == '{' || c == '[':
		return s.open(c == '{')
	case c == '"':
		text, err := s.text(s.build)
		if err == nil && s.build {
			s.put(string(text))
		}
		return wantNext, err
	case c == '-' || '0' <= c && c <= '9':
		return wantNext, s.number()
	case c == 't':
		return wantNext, s.literal("true", true)
	case c == 'f':
		return wantNext, s.literal("false", false)
	case c == 'n':
		return wantNext, s.literal("null", nil)
	}
	return 0, s.unexpected("value wanted")
}

func (s *scanner) open(object bool) (state, *Error) {
	if len(s.frames) >= s.limits.MaxDepth {
		return 0, s.fail(KindDepth, s.pos, fmt.Sprintf("nested deeper than %d", s.limits.MaxDepth))
	}
	s.pos++
	f := frame{object: object, keys: len(s.keys), first: len(s.values)}
	if s.build && object {
		f.fields = map[string]any{}
	}
	s.frames = append(s.frames, f)
	if object {
		return wantFirstKey, nil
	}
	return wantFirstElement, nil
}

func (s *scanner) close() (state, *Error) {
	s.pos++
	last := len(s.frames) - 1
	top := s.frames[last]
	s.frames[last] = frame{}
	s.frames = s.frames[:last]
	s.keys = s.keys[:top.keys]
	switch {
	case s.build && top.object:
		s.put(top.fields)
	case s.build:
		elements := s.values[top.first:]
		list := s.list(elements)
		clear(elements)
		s.values = s.values[:top.first]
		s.put(list)
	}
	return wantNext, nil
}

// list is a copy of elements. The lists of a document share their memory, so many
// small ones, side by side or inside one another, cost no more than a large one.
func (s *scanner) list(elements []any) []any {
	if len(elements) == 0 {
		return []any{}
	}
	if cap(s.room)-len(s.room) < len(elements) {
		s.room = make([]any, 0, max(len(elements), min(2*cap(s.room), 1024), 16))
	}
	from := len(s.room)
	s.room = append(s.room, elements...)
	return s.room[from:len(s.room):len(s.room)]
}

// put stores a finished value in the container that is open.
func (s *scanner) put(v any) {
	if len(s.frames) == 0 {
		s.root = v
		return
	}
	top := &s.frames[len(s.frames)-1]
	if top.object {
		top.fields[top.name] = v
	} else {
		s.values = append(s.values, v)
	}
}

func (s *scanner) key(c byte) *Error {
	if c != '"' {
		return s.unexpected("name in double quotes wanted")
	}
	start := s.pos
	name, err := s.text(true)
	if err != nil {
		return err
	}
	top := &s.frames[len(s.frames)-1]
	if s.build {
		return s.field(top, name, start)
	}
	if s.limits.AllowDuplicates { // keep the current name only, for the path
		s.keys = append(s.keys[:top.keys], name)
		return s.colon()
	}
	own := s.keys[top.keys:]
	if len(own) >= s.limits.MaxKeys {
		return s.fail(KindKeys, start, fmt.Sprintf("more than %d keys in one object", s.limits.MaxKeys))
	}
	twice := false
	if top.seen != nil {
		_, twice = top.seen[string(name)]
	} else {
		for _, k := range own {
			if bytes.Equal(k, name) {
				twice = true
				break
			}
		}
	}
	s.keys = append(s.keys, name)
	if twice {
		return s.fail(KindDuplicateKey, start, "the name "+quote(string(name))+" stands twice in one object")
	}
	if top.seen != nil {
		top.seen[string(name)] = struct{}{}
	} else if len(own)+1 == manyKeys {
		top.seen = make(map[string]struct{}, 4*manyKeys)
		for _, k := range s.keys[top.keys:] {
			top.seen[string(k)] = struct{}{}
		}
	}
	return s.colon()
}

// field begins a member of an object that is being built: its map tells whether
// the name is new.
func (s *scanner) field(top *frame, name []byte, start int) *Error {
	s.keys = append(s.keys[:top.keys], name)
	before := len(top.fields)
	top.name = string(name)
	if before >= s.limits.MaxKeys && !s.limits.AllowDuplicates {
		s.keys = s.keys[:top.keys]
		return s.fail(KindKeys, start, fmt.Sprintf("more than %d keys in one object", s.limits.MaxKeys))
	}
	top.fields[top.name] = nil
	if len(top.fields) == before && !s.limits.AllowDuplicates {
		return s.fail(KindDuplicateKey, start, "the name "+quote(top.name)+" stands twice in one object")
	}
	return s.colon()
}

func (s *scanner) colon() *Error {
	s.space()
	if s.pos == len(s.data) {
		return s.fail(KindTruncated, s.pos, "the text ends after a name")
	}
	if s.data[s.pos] != ':' {
		return s.unexpected("colon wanted")
	}
	s.pos++
	return nil
}

func (s *scanner) literal(word string, v any) *Error {
	rest := s.data[s.pos:]
	n := 0
	for n < len(word) && n < len(rest) && rest[n] == word[n] {
		n++
	}
	switch {
	case n == len(word):
		s.pos += n
		if s.build {
			s.put(v)
		}
		return nil
	case n == len(rest):
		return s.fail(KindTruncated, len(s.data), "the text ends inside "+word)
	}
	return s.unexpected("value wanted")
}

func (s *scanner) space() {
	for s.pos < len(s.data) {
		switch s.data[s.pos] {
		case ' ', '\t', '\n', '\r':
			s.pos++
		default:
			return
		}
	}
}

func (s *scanner) unexpected(wanted string) *Error {
	r, n := utf8.DecodeRune(s.data[s.pos:])
	if r == utf8.RuneError && n == 1 {
		return s.fail(KindUTF8, s.pos, "invalid UTF-8 outside a string")
	}
	return s.fail(KindSyntax, s.pos, fmt.Sprintf("%s, found %s", wanted, strconv.QuoteRuneToASCII(r)))
}

func (s *scanner) fail(kind Kind, offset int, detail string) *Error {
	return &Error{Kind: kind, Offset: offset, Path: s.path(), Detail: detail}
}

// path is the JSON pointer of the value that is being read.
func (s *scanner) path() string {
	tokens := make([]string, 0, min(len(s.frames), 64))
	for i, f := range s.frames {
		if i == 64 { // where no depth limit stands, a pointer of 1 MiB helps nobody
			break
		}
		end := len(s.keys)
		if i+1 < len(s.frames) {
			end = s.frames[i+1].keys
		}
		switch {
		case !f.object:
			tokens = append(tokens, strconv.Itoa(f.index))
		case end > f.keys:
			tokens = append(tokens, string(s.keys[end-1]))
		}
	}
	return Pointer(tokens...)
}
