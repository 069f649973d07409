package onig

import "fmt"

// quantifiers applies every repeat operator that follows atom.
func (p *parser) quantifiers(atom *node) (*node, error) {
	for p.more() {
		if p.extended && p.skipExtended() {
			continue
		}
		repeat := &node{op: opRepeat, max: -1, subs: []*node{atom}}
		interval := false
		switch {
		case p.accept("*"):
		case p.accept("+"):
			repeat.min = 1
		case p.accept("?"):
			repeat.max = 1
		case p.peek() == '{':
			var err error
			if interval, err = p.interval(repeat); err != nil {
				return nil, err
			}
			if !interval { // a brace that opens no interval is a brace
				return atom, nil
			}
		default:
			return atom, nil
		}
		switch {
		case interval && repeat.min == repeat.max && p.accept("?"):
			// a{n}? in Ruby's syntax is an optional a{n}, not a lazy one
			repeat = &node{op: opRepeat, max: 1, subs: []*node{repeat}}
		case p.accept("?"):
			repeat.mode = lazy
		case !interval && p.accept("+"): // a{1,2}+ repeats a{1,2} instead
			repeat.mode = possessive
		}
		atom = repeat
	}
	return atom, nil
}

// interval reads {n}, {n,}, {,m} or {n,m} into repeat, or leaves everything as
// it was and reports false where the brace is an ordinary character.
func (p *parser) interval(repeat *node) (bool, error) {
	start := p.pos
	p.pos++
	lo, hasLo, err := p.number()
	if err != nil {
		return false, err
	}
	hi, hasHi := lo, hasLo
	comma := p.accept(",")
	if comma {
		if hi, hasHi, err = p.number(); err != nil {
			return false, err
		}
		if !hasHi {
			hi = -1
		}
	}
	if !p.accept("}") || !hasLo && !hasHi {
		p.pos = start
		return false, nil
	}
	if hi >= 0 && lo > hi {
		return false, fmt.Errorf("the interval {%d,%d} runs backwards", lo, hi)
	}
	repeat.min, repeat.max = lo, hi
	return true, nil
}

func (p *parser) number() (n int, ok bool, err error) {
	for p.more() && p.peek() >= '0' && p.peek() <= '9' {
		n, ok = n*10+int(p.peek()-'0'), true
		if n > maxRepeat {
			return 0, false, fmt.Errorf("too big a number for a repeat range, the most is %d", maxRepeat)
		}
		p.pos++
	}
	return n, ok, nil
}
