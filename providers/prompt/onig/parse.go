package onig

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// node is one construct of a pattern.
type node struct {
	op       op
	set      *Set    // opSet
	subs     []*node // opConcat, opAlternate; the one operand of the others
	min, max int     // opRepeat; max -1 is unbounded
	mode     mode    // opRepeat
	behind   bool    // opLook
	negative bool    // opLook, opWordBoundary
	run      string  // opSet of one case-insensitive literal: for checkFoldText
}

type op uint8

const (
	opEmpty op = iota
	opSet
	opConcat
	opAlternate
	opRepeat
	opAtomic
	opLook
	opLineBegin     // ^
	opLineEnd       // $
	opTextBegin     // \A
	opTextEnd       // \z
	opTextEndOrLine // \Z
	opSearchBegin   // \G
	opWordBoundary  // \b, negative \B
	opKeep          // \K
)

// mode is how eagerly a repetition takes and gives back.
type mode uint8

const (
	greedy mode = iota
	lazy
	possessive
)

// Limits of a pattern, so that a hostile file cannot exhaust memory.
const (
	maxPattern = 1 << 16
	maxDepth   = 200
	maxRepeat  = 100_000 // ONIG_MAX_REPEAT_NUM
)

// parser reads one pattern, in Oniguruma's Ruby syntax (doc/SYNTAX.md and
// doc/RE of Oniguruma 6.9).
type parser struct {
	src      string
	pos      int
	depth    int
	fold     bool // (?i)
	dotAll   bool // (?m)
	extended bool // (?x)
}

func parse(src string) (*node, error) {
	if len(src) > maxPattern {
		return nil, fmt.Errorf("the pattern has %d bytes, more than %d", len(src), maxPattern)
	}
	if !utf8.ValidString(src) {
		return nil, errors.New("the pattern is not valid UTF-8")
	}
	p := &parser{src: src}
	n, err := p.alternation()
	if err == nil && p.pos < len(p.src) {
		err = errors.New("unmatched close parenthesis")
	}
	if err != nil {
		return nil, fmt.Errorf("at byte %d: %w", p.pos, err)
	}
	return n, nil
}

func (p *parser) more() bool { return p.pos < len(p.src) }

func (p *parser) peek() byte {
	if p.more() {
		return p.src[p.pos]
	}
	return 0
}

func (p *parser) accept(s string) bool {
	if strings.HasPrefix(p.src[p.pos:], s) {
		p.pos += len(s)
		return true
	}
	return false
}

func (p *parser) rune() rune {
	r, n := utf8.DecodeRuneInString(p.src[p.pos:])
	p.pos += n
	return r
}

// alternation reads up to the end or an unopened parenthesis. Options set
// inside, as in a(?i)b|c, last to its end.
func (p *parser) alternation() (*node, error) {
	if p.depth++; p.depth > maxDepth {
		return nil, fmt.Errorf("nested deeper than %d", maxDepth)
	}
	defer func() { p.depth-- }()
	fold, dotAll, extended := p.fold, p.dotAll, p.extended
	defer func() { p.fold, p.dotAll, p.extended = fold, dotAll, extended }()

	var branches []*node
	for {
		branch, err := p.concatenation()
		if err != nil {
			return nil, err
		}
		branches = append(branches, branch)
		if !p.accept("|") {
			break
		}
	}
	if len(branches) == 1 {
		return branches[0], nil
	}
	return &node{op: opAlternate, subs: branches}, nil
}

func (p *parser) concatenation() (*node, error) {
	var parts []*node
	for p.more() && p.peek() != '|' && p.peek() != ')' {
		if p.extended && p.skipExtended() {
			continue
		}
		part, err := p.atom()
		if err != nil {
			return nil, err
		}
		if part == nil { // a comment or an option
			continue
		}
		if part, err = p.quantifiers(part); err != nil {
			return nil, err
		}
		parts = append(parts, part)
	}
	if err := checkRuns(parts); err != nil {
		return nil, err
	}
	switch len(parts) {
	case 0:
		return &node{op: opEmpty}, nil
	case 1:
		return parts[0], nil
	}
	return &node{op: opConcat, subs: parts}, nil
}

// checkRuns looks for foldings of several letters in neighbouring literals.
func checkRuns(parts []*node) error {
	run := ""
	for _, n := range parts {
		if n.op == opSet && n.run != "" {
			run += n.run
			continue
		}
		if err := checkFoldText(run); err != nil {
			return err
		}
		run = ""
	}
	return checkFoldText(run)
}

func (p *parser) skipExtended() bool {
	switch p.peek() {
	case ' ', '\t', '\n', '\r', '\f', '\v':
		p.pos++
		return true
	case '#':
		for p.more() && p.peek() != '\n' {
			p.pos++
		}
		return true
	}
	return false
}

// atom reads one construct without what repeats it. It returns nil for one
// that matches nothing by itself, such as a comment.
func (p *parser) atom() (*node, error) {
	switch c := p.peek(); c {
	case '(':
		return p.group()
	case '[':
		p.pos++
		spans, err := p.class()
		if err != nil {
			return nil, err
		}
		return &node{op: opSet, set: newSet(spans...)}, nil
	case '.':
		p.pos++
		if p.dotAll {
			return anySet(), nil
		}
		return notNewline(), nil
	case '^':
		p.pos++
		return &node{op: opLineBegin}, nil
	case '$':
		p.pos++
		return &node{op: opLineEnd}, nil
	case '*', '+', '?':
		return nil, errors.New("target of repeat operator is not specified")
	case '\\':
		return p.escape()
	}
	return p.literal(p.rune()), nil
}

func (p *parser) literal(r rune) *node {
	spans := []span{{r, r}}
	n := &node{op: opSet}
	if p.fold {
		spans, n.run = foldClosure(spans), string(r)
	}
	n.set = newSet(spans...)
	return n
}

func anySet() *node     { return &node{op: opSet, set: newSet(span{0, maxRune})} }
func notNewline() *node { return &node{op: opSet, set: newSet(invert([]span{{'\n', '\n'}})...)} }

// group reads what a parenthesis opens. Captures are groups like any other,
// since nothing can refer to them.
func (p *parser) group() (*node, error) {
	p.pos++
	wrap := func(n *node) *node { return n }
	switch {
	case p.accept("?#"):
		end := strings.IndexByte(p.src[p.pos:], ')')
		if end < 0 {
			return nil, errors.New("end of pattern in group")
		}
		p.pos += end + 1
		return nil, nil
	case p.accept("?:"):
	case p.accept("?="):
		wrap = func(n *node) *node { return &node{op: opLook, subs: []*node{n}} }
	case p.accept("?!"):
		wrap = func(n *node) *node { return &node{op: opLook, negative: true, subs: []*node{n}} }
	case p.accept("?<="):
		wrap = func(n *node) *node { return &node{op: opLook, behind: true, subs: []*node{n}} }
	case p.accept("?<!"):
		wrap = func(n *node) *node { return &node{op: opLook, behind: true, negative: true, subs: []*node{n}} }
	case p.accept("?>"):
		wrap = func(n *node) *node { return &node{op: opAtomic, subs: []*node{n}} }
	case p.accept("?<"), p.accept("?'"):
		end := strings.IndexAny(p.src[p.pos:], ">'")
		if end <= 0 {
			return nil, errors.New("group name is empty")
		}
		p.pos += end + 1
	case p.accept("?"):
		return p.options()
	}
	n, err := p.alternation()
	if err != nil {
		return nil, err
	}
	if !p.accept(")") {
		return nil, errors.New("end pattern with unmatched parenthesis")
	}
	return wrap(n), nil
}

// options reads (?imx-imx) or (?imx-imx:subpattern), from after the ?.
func (p *parser) options() (*node, error) {
	fold, dotAll, extended, on := p.fold, p.dotAll, p.extended, true
	restore := func() { p.fold, p.dotAll, p.extended = fold, dotAll, extended }
	for p.more() {
		switch c := p.rune(); c {
		case '-':
			on = false
		case 'i':
			p.fold = on
		case 'm':
			p.dotAll = on
		case 'x':
			p.extended = on
		case ')', ':':
			n, err := p.alternation()
			if err != nil {
				return nil, err
			}
			if c == ')' { // to the end of the group that holds it; the caller reads the parenthesis
				restore()
				return n, nil
			}
			if !p.accept(")") {
				return nil, errors.New("end pattern with unmatched parenthesis")
			}
			restore()
			return n, nil
		default:
			return nil, fmt.Errorf("group option %q is not supported", c)
		}
	}
	return nil, errors.New("end of pattern in group")
}
