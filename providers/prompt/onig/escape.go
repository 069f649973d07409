package onig

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// escape reads one construct that a backslash opens, outside brackets.
func (p *parser) escape() (*node, error) {
	p.pos++
	if !p.more() {
		return nil, errors.New("end of pattern at escape")
	}
	switch c := p.peek(); c {
	case 'A', 'z', 'Z', 'G', 'K', 'b', 'B':
		p.pos++
		return anchor(c), nil
	case 'R': // (?>\r\n|[\n-\r\u0085\u2028\u2029])
		p.pos++
		crlf := &node{op: opConcat, subs: []*node{setOf(span{'\r', '\r'}), setOf(span{'\n', '\n'})}}
		one := setOf(span{'\n', '\r'}, span{0x85, 0x85}, span{0x2028, 0x2029})
		return &node{op: opAtomic, subs: []*node{{op: opAlternate, subs: []*node{crlf, one}}}}, nil
	case 'N':
		p.pos++
		return notNewline(), nil
	case 'O':
		p.pos++
		return anySet(), nil
	case 'X', 'y', 'Y', 'k', 'g', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return nil, fmt.Errorf(`\%c (a back reference, a call or a text segment) is not supported`, c)
	}
	spans, isClass, err := p.escapedClass()
	if err != nil {
		return nil, err
	}
	if isClass { // (?i) does not reach \p{Lu} outside brackets
		return setOf(spans...), nil
	}
	r, err := p.escapedRune()
	if err != nil {
		return nil, err
	}
	return p.literal(r), nil
}

func setOf(spans ...span) *node { return &node{op: opSet, set: newSet(spans...)} }

func anchor(c byte) *node {
	switch c {
	case 'A':
		return &node{op: opTextBegin}
	case 'z':
		return &node{op: opTextEnd}
	case 'Z':
		return &node{op: opTextEndOrLine}
	case 'G':
		return &node{op: opSearchBegin}
	case 'K':
		return &node{op: opKeep}
	}
	return &node{op: opWordBoundary, negative: c == 'B'}
}

// escapedClass reads \w, \p{..} and their like, from after the backslash. It
// reports false, and reads nothing, where something else stands there.
func (p *parser) escapedClass() (spans []span, ok bool, err error) {
	name := ""
	switch p.peek() {
	case 'w', 'W':
		name = "word"
	case 's', 'S':
		name = "space"
	case 'd', 'D':
		name = "digit"
	case 'h', 'H':
		name = "xdigit"
	case 'p', 'P':
		return p.propertyClass()
	default:
		return nil, false, nil
	}
	negative := p.peek() < 'a'
	p.pos++
	spans = properties()[name]
	if negative {
		spans = invert(spans)
	}
	return spans, true, nil
}

// propertyClass reads \p{Name}, \p{^Name} or \P{Name}. Without a brace, \p is
// the letter p.
func (p *parser) propertyClass() ([]span, bool, error) {
	if len(p.src) < p.pos+2 || p.src[p.pos+1] != '{' {
		return nil, false, nil
	}
	negative := p.peek() == 'P'
	p.pos += 2
	if p.accept("^") {
		negative = !negative
	}
	end := strings.IndexByte(p.src[p.pos:], '}')
	if end < 0 {
		return nil, false, errors.New("invalid character property name")
	}
	spans, err := property(p.src[p.pos : p.pos+end])
	if err != nil {
		return nil, false, err
	}
	p.pos += end + 1
	if negative {
		spans = invert(spans)
	}
	return spans, true, nil
}

// escapedRune reads an escape that stands for one character.
func (p *parser) escapedRune() (rune, error) {
	c := p.rune()
	switch c {
	case 't':
		return '\t', nil
	case 'n':
		return '\n', nil
	case 'r':
		return '\r', nil
	case 'f':
		return '\f', nil
	case 'v':
		return '\v', nil
	case 'a':
		return '\a', nil
	case 'e':
		return 0x1B, nil
	case 'x':
		if p.accept("{") {
			return p.digits(16, 1, 8, "}")
		}
		r, err := p.digits(16, 0, 2, "")
		if err == nil && r > 0x7F {
			return 0, errors.New(`a byte above \x7f is not a character`)
		}
		return r, err
	case 'u':
		return p.digits(16, 4, 4, "")
	case '0':
		return p.digits(8, 0, 2, "")
	case 'c', 'C', 'M':
		return 0, fmt.Errorf(`\%c (a control or meta character) is not supported`, c)
	}
	return c, nil
}

// digits reads least to most digits of base and then end.
func (p *parser) digits(base, least, most int, end string) (rune, error) {
	start := p.pos
	for p.more() && p.pos-start < most {
		if _, err := strconv.ParseUint(p.src[p.pos:p.pos+1], base, 32); err != nil {
			break
		}
		p.pos++
	}
	text := p.src[start:p.pos]
	if len(text) < least || !p.accept(end) {
		return 0, errors.New("invalid code point value")
	}
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseUint(text, base, 32)
	if err != nil || n > maxRune || n >= 0xD800 && n <= 0xDFFF {
		return 0, errors.New("invalid code point value")
	}
	return rune(n), nil
}
