package bpe

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// scanner reads JSON (RFC 8259) where it lies. The largest tokenizer files have
// 33 MB, nearly all of it one object of tokens and one array of merges; a
// general decoder would need seconds and hundreds of megabytes for them.
type scanner struct {
	data  []byte
	pos   int
	depth int
}

const maxJSONDepth = 128

var errJSON = errors.New("not valid JSON")

func (s *scanner) fail(what string) error {
	return fmt.Errorf("%w at byte %d: %s", errJSON, s.pos, what)
}

func (s *scanner) space() {
	for s.pos < len(s.data) {
		switch s.data[s.pos] {
		case ' ', '\n', '\t', '\r':
			s.pos++
		default:
			return
		}
	}
}

// peek returns the first byte of the next token, or 0 at the end.
func (s *scanner) peek() byte {
	s.space()
	if s.pos < len(s.data) {
		return s.data[s.pos]
	}
	return 0
}

func (s *scanner) accept(c byte) bool {
	if s.peek() == c {
		s.pos++
		return true
	}
	return false
}

func (s *scanner) expect(c byte) error {
	if !s.accept(c) {
		return s.fail(fmt.Sprintf("%q is missing", c))
	}
	return nil
}

// object calls member with the scanner at each value; member must read it.
func (s *scanner) object(member func(key string) error) error {
	return s.list('{', '}', func() error {
		key, err := s.text(nil)
		if err != nil {
			return err
		}
		if err := s.expect(':'); err != nil {
			return err
		}
		return member(string(key))
	})
}

// array calls element with the scanner at each element, which it must read.
func (s *scanner) array(element func() error) error { return s.list('[', ']', element) }

func (s *scanner) list(open, end byte, item func() error) error {
	if s.depth++; s.depth > maxJSONDepth {
		return s.fail("nested too deep")
	}
	defer func() { s.depth-- }()
	if err := s.expect(open); err != nil {
		return err
	}
	if s.accept(end) {
		return nil
	}
	for {
		if err := item(); err != nil {
			return err
		}
		if s.accept(end) {
			return nil
		}
		if err := s.expect(','); err != nil {
			return err
		}
	}
}

// text appends the next string to dst, its escapes resolved.
func (s *scanner) text(dst []byte) ([]byte, error) {
	if err := s.expect('"'); err != nil {
		return dst, err
	}
	start := s.pos
	for s.pos < len(s.data) {
		switch c := s.data[s.pos]; {
		case c == '"':
			dst = append(dst, s.data[start:s.pos]...)
			s.pos++
			return dst, nil
		case c < ' ':
			return dst, s.fail("a control character in a string")
		case c == '\\':
			dst = append(dst, s.data[start:s.pos]...)
			var err error
			if dst, err = s.escape(dst); err != nil {
				return dst, err
			}
			start = s.pos
		default:
			s.pos++
		}
	}
	return dst, s.fail("a string without an end")
}

func (s *scanner) escape(dst []byte) ([]byte, error) {
	if s.pos+1 >= len(s.data) {
		return dst, s.fail("a string without an end")
	}
	c := s.data[s.pos+1]
	s.pos += 2
	if i := bytes.IndexByte([]byte(`"\/bfnrt`), c); i >= 0 {
		return append(dst, "\"\\/\b\f\n\r\t"[i]), nil
	}
	if c != 'u' {
		return dst, s.fail("an unknown escape")
	}
	r, err := s.hex4()
	if err != nil {
		return dst, err
	}
	if utf16.IsSurrogate(r) {
		if !bytes.HasPrefix(s.data[s.pos:], []byte(`\u`)) {
			return dst, s.fail("half a surrogate pair")
		}
		s.pos += 2
		low, err := s.hex4()
		if err != nil {
			return dst, err
		}
		if r = utf16.DecodeRune(r, low); r == utf8.RuneError {
			return dst, s.fail("half a surrogate pair")
		}
	}
	return utf8.AppendRune(dst, r), nil
}

func (s *scanner) hex4() (rune, error) {
	if s.pos+4 > len(s.data) {
		return 0, s.fail("a short escape")
	}
	n, err := strconv.ParseUint(string(s.data[s.pos:s.pos+4]), 16, 32)
	if err != nil {
		return 0, s.fail("a bad escape")
	}
	s.pos += 4
	return rune(n), nil
}

// id reads a token id: an integer from 0 to maxID.
func (s *scanner) id() (int32, error) {
	s.space()
	n, start := 0, s.pos
	for s.pos < len(s.data) && s.data[s.pos] >= '0' && s.data[s.pos] <= '9' {
		if n = n*10 + int(s.data[s.pos]-'0'); n > maxID {
			return 0, fmt.Errorf("a token id is above %d", maxID)
		}
		s.pos++
	}
	if s.pos == start || s.pos < len(s.data) && bytes.IndexByte([]byte(".eE"), s.data[s.pos]) >= 0 {
		return 0, s.fail("a token id is not a whole number")
	}
	return int32(n), nil
}

// value passes over the next value and returns its bytes, which are valid JSON
// only as far as their brackets and strings go.
func (s *scanner) value() ([]byte, error) {
	c := s.peek()
	start := s.pos
	var err error
	switch {
	case c == '{':
		err = s.list('{', '}', func() error {
			if err := s.skipText(); err != nil {
				return err
			}
			if err := s.expect(':'); err != nil {
				return err
			}
			_, err := s.value()
			return err
		})
	case c == '[':
		err = s.array(func() error { _, err := s.value(); return err })
	case c == '"':
		err = s.skipText()
	case c == 0:
		err = s.fail("the file ends too early")
	default:
		for s.pos < len(s.data) && bytes.IndexByte([]byte(" \n\t\r,:]}[{\""), s.data[s.pos]) < 0 {
			s.pos++
		}
		if s.pos == start {
			err = s.fail("no value")
		}
	}
	return s.data[start:s.pos], err
}

// skipText passes over a string.
func (s *scanner) skipText() error {
	if err := s.expect('"'); err != nil {
		return err
	}
	for s.pos < len(s.data) {
		switch s.data[s.pos] {
		case '"':
			s.pos++
			return nil
		case '\\':
			s.pos++
		}
		s.pos++
	}
	return s.fail("a string without an end")
}
