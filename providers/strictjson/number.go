package strictjson

import (
	"encoding/json"
	"fmt"
	"math"
)

// number reads -?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?
func (s *scanner) number() *Error {
	start, p, d := s.pos, s.pos, s.data
	digits := func() bool {
		from := p
		for p < len(d) && '0' <= d[p] && d[p] <= '9' {
			p++
		}
		return p > from
	}
	missing := func() *Error {
		s.pos = p
		if p == len(d) {
			return s.fail(KindTruncated, p, "the text ends inside a number")
		}
		return s.unexpected("digit wanted")
	}
	if d[p] == '-' {
		p++
	}
	if p < len(d) && d[p] == '0' {
		p++
		if p < len(d) && '0' <= d[p] && d[p] <= '9' {
			s.pos = p
			return s.unexpected("no digit may follow a leading zero")
		}
	} else if !digits() {
		return missing()
	}
	if p < len(d) && d[p] == '.' {
		p++
		if !digits() {
			return missing()
		}
	}
	if p < len(d) && (d[p] == 'e' || d[p] == 'E') {
		p++
		if p < len(d) && (d[p] == '+' || d[p] == '-') {
			p++
		}
		from := p
		if !digits() {
			return missing()
		}
		if exceeds(d[from:p], s.limits.MaxExponent) {
			return s.fail(KindNumber, start, fmt.Sprintf("a number with an exponent beyond %d", s.limits.MaxExponent))
		}
	}
	if p-start > s.limits.MaxNumberLength {
		return s.fail(KindNumber, start, fmt.Sprintf("a number of more than %d characters", s.limits.MaxNumberLength))
	}
	s.pos = p
	if s.build {
		s.put(json.Number(d[start:p]))
	}
	return nil
}

// exceeds compares decimal digits with most, without overflow.
func exceeds(digits []byte, most int) bool {
	n := 0
	for _, c := range digits {
		if n > (most-int(c-'0'))/10 {
			return most != math.MaxInt // which stands for no limit
		}
		n = n*10 + int(c-'0')
	}
	return n > most
}
