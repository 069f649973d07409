package onig

import (
	"errors"
	"fmt"
	"strings"
)

// class reads a bracket expression from after its [ to its ], as merged spans.
// It holds characters, ranges, escapes, [:names:], nested brackets, and && for
// the intersection of what stands on both sides.
func (p *parser) class() ([]span, error) {
	if p.depth++; p.depth > maxDepth {
		return nil, fmt.Errorf("nested deeper than %d", maxDepth)
	}
	defer func() { p.depth-- }()

	negative := p.accept("^")
	var left, now []span
	intersected := false
	for first := true; ; first = false {
		if !p.more() {
			return nil, errors.New("premature end of char-class")
		}
		switch {
		case p.peek() == ']':
			p.pos++
			if first {
				if strings.IndexByte(p.src[p.pos:], ']') < 0 {
					return nil, errors.New("empty char-class")
				}
				p.pos-- // a bracket in first place is a member
				break
			}
			if now = merge(now); intersected {
				now = intersect(left, now)
			}
			return p.finish(now, negative)
		case p.accept("&&"):
			if now = merge(now); intersected {
				now = intersect(left, now)
			}
			left, now, intersected = now, nil, true
			continue
		}
		spans, err := p.member()
		if err != nil {
			return nil, err
		}
		now = append(now, spans...)
	}
}

func (p *parser) finish(spans []span, negative bool) ([]span, error) {
	if p.fold {
		if !negative {
			if err := checkFold(spans); err != nil {
				return nil, err
			}
		}
		spans = foldClosure(spans)
	}
	if negative {
		spans = invert(spans)
	}
	return spans, nil
}

// member reads one member of a bracket expression.
func (p *parser) member() ([]span, error) {
	if strings.HasPrefix(p.src[p.pos:], "[:") {
		if end := strings.Index(p.src[p.pos:], ":]"); end > 1 { // at 1 both share the colon
			name := p.src[p.pos+2 : p.pos+end]
			if bare := strings.TrimPrefix(name, "^"); isWord(bare) {
				p.pos += end + 2
				spans, err := bracket(bare)
				if err == nil && bare != name {
					spans = invert(spans)
				}
				return spans, err
			}
		}
	}
	if p.accept("[") {
		return p.class()
	}
	if p.peek() == '\\' {
		if len(p.src) > p.pos+1 && p.src[p.pos+1] == 'R' || p.accept(`\X`) {
			return nil, errors.New("a sequence of characters inside a char-class")
		}
		p.pos++
		spans, isClass, err := p.escapedClass()
		if err != nil {
			return nil, err
		}
		if isClass {
			if p.peek() == '-' && !strings.HasPrefix(p.src[p.pos:], "-]") {
				return nil, errors.New("unmatched range specifier in char-class")
			}
			return spans, nil
		}
		p.pos--
	}
	lo, err := p.memberRune()
	if err != nil {
		return nil, err
	}
	if p.peek() != '-' || strings.HasPrefix(p.src[p.pos:], "-]") || strings.HasPrefix(p.src[p.pos:], "-&&") {
		return []span{{lo, lo}}, nil
	}
	p.pos++
	if p.peek() == '[' {
		return nil, errors.New("unmatched range specifier in char-class")
	}
	if p.peek() == '\\' {
		p.pos++
		if _, isClass, err := p.escapedClass(); err != nil || isClass {
			return nil, errors.New("char-class value at end of range")
		}
		p.pos--
	}
	hi, err := p.memberRune()
	if err != nil {
		return nil, err
	}
	if lo > hi {
		return nil, fmt.Errorf("the range from %q to %q is empty", lo, hi)
	}
	return []span{{lo, hi}}, nil
}

func (p *parser) memberRune() (rune, error) {
	if !p.more() {
		return 0, errors.New("premature end of char-class")
	}
	if p.peek() != '\\' {
		return p.rune(), nil
	}
	p.pos++
	if !p.more() {
		return 0, errors.New("end of pattern at escape")
	}
	if p.accept("b") { // inside brackets, a backspace
		return '\b', nil
	}
	return p.escapedRune()
}

func isWord(s string) bool {
	for _, c := range s {
		if c < 'a' || c > 'z' {
			return false
		}
	}
	return s != ""
}
