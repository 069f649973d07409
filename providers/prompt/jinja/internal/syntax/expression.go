package syntax

import "strings"

// constants are the names that are values.
var constants = map[string]struct {
	known bool
	value any
}{
	"true": {true, true}, "True": {true, true}, "false": {true, false}, "False": {true, false}, "none": {true, nil}, "None": {true, nil},
}

// perLevel is how many frames of Jinja's parser one level of brackets takes.
const perLevel = 13

func (p *parser) expression() Expr {
	line := p.current.line
	e := p.or()
	for n := 1; p.skipName("if"); n++ {
		p.chained(n)
		test := p.or()
		var otherwise Expr
		if p.skipName("else") {
			p.enter(1)
			otherwise = p.expression()
			p.leave(1)
		}
		e = &Conditional{At(line), test, e, otherwise}
		line = p.current.line
	}
	return e
}

func (p *parser) or() Expr {
	line := p.current.line
	left := p.and()
	for n := 1; p.skipName("or"); n++ {
		p.chained(n)
		left = &Binary{At(line), "or", left, p.and()}
		line = p.current.line
	}
	return left
}

func (p *parser) and() Expr {
	line := p.current.line
	left := p.not()
	for n := 1; p.skipName("and"); n++ {
		p.chained(n)
		left = &Binary{At(line), "and", left, p.not()}
		line = p.current.line
	}
	return left
}

func (p *parser) not() Expr {
	if p.current.named("not") {
		line := p.next().line
		p.enter(1)
		defer p.leave(1)
		return &Unary{At(line), "not", p.not()}
	}
	return p.compare()
}

func (p *parser) compare() Expr {
	line := p.current.line
	e := p.sum()
	c := &Compare{First: e}
	for {
		op := ""
		switch {
		case p.current.kind == operator && strings.Contains(" == != < <= > >= ", " "+p.current.text+" "):
			op = p.next().text
		case p.skipName("in"):
			op = "in"
		case p.current.named("not") && p.look().named("in"):
			p.next()
			p.next()
			op = "not in"
		}
		if op == "" {
			break
		}
		c.Ops = append(c.Ops, op)
		c.Rest = append(c.Rest, p.sum())
		line = p.current.line
	}
	if len(c.Ops) == 0 {
		return e
	}
	c.At = At(line)
	return c
}

func (p *parser) sum() Expr {
	return p.binary(p.concat, "+", "-")
}

// binary reads operands that next reads, joined by ops from the left.
func (p *parser) binary(next func() Expr, ops ...string) Expr {
	line := p.current.line
	left := next()
	for n := 1; p.current.kind == operator && contains(ops, p.current.text); n++ {
		p.chained(n)
		op := p.next().text
		left = &Binary{At(line), op, left, next()}
		line = p.current.line
	}
	return left
}

func contains(ops []string, op string) bool {
	for _, o := range ops {
		if o == op {
			return true
		}
	}
	return false
}

func (p *parser) concat() Expr {
	line := p.current.line
	items := []Expr{p.product()}
	for p.skipOperator("~") {
		items = append(items, p.product())
	}
	if len(items) == 1 {
		return items[0]
	}
	return &Concat{At(line), items}
}

func (p *parser) product() Expr { return p.binary(p.power, "*", "/", "//", "%") }

func (p *parser) power() Expr { return p.binary(p.filtered, "**") }

// filtered reads an operand with its sign and its filters and tests.
func (p *parser) filtered() Expr { return p.filterExpr(p.unary()) }

func (p *parser) unary() Expr {
	line := p.current.line
	var e Expr
	if p.current.is("-") || p.current.is("+") {
		op := p.next().text
		p.enter(1)
		e = &Unary{At(line), op, p.unary()}
		p.leave(1)
	} else {
		e = p.primary()
	}
	return p.postfix(e)
}

func (p *parser) primary() Expr {
	t := p.current
	at := At(t.line)
	switch {
	case t.kind == name:
		p.next()
		if c := constants[t.text]; c.known {
			return &Const{at, c.value}
		}
		return &Name{at, t.text}
	case t.kind == text:
		s := ""
		for p.current.kind == text {
			s += p.next().value.(string)
		}
		return &Const{at, s}
	case t.kind == integer || t.kind == float:
		p.next()
		return &Const{at, t.value}
	case t.is("("):
		p.next()
		p.enter(perLevel)
		e := p.tuple(tupleRule{condition: true, parentheses: true})
		p.leave(perLevel)
		p.expectOperator(")")
		return e
	case t.is("["):
		return p.list()
	case t.is("{"):
		return p.dict()
	}
	p.fail(t.line, "unexpected %s", quoted(t.describe()))
	return nil
}

// tupleRule says how a tuple without brackets of its own may look.
type tupleRule struct {
	simple      bool     // only names and literals
	condition   bool     // a if b else c is allowed
	parentheses bool     // it may be empty
	ends        []string // names that end it
}

// tuple reads expressions with commas between them; one without a comma is
// that expression.
func (p *parser) tuple(rule tupleRule) Expr {
	line := p.current.line
	read := p.or
	if rule.simple {
		read = p.primary
	} else if rule.condition {
		read = p.expression
	}
	var items []Expr
	isTuple := false
	for {
		if len(items) > 0 {
			p.expectOperator(",")
		}
		if p.tupleEnd(rule.ends) {
			break
		}
		items = append(items, read())
		if !p.current.is(",") {
			break
		}
		isTuple = true
		line = p.current.line
	}
	if !isTuple {
		if len(items) > 0 {
			return items[0]
		}
		if !rule.parentheses {
			p.fail(p.current.line, "Expected an expression, got %s", quoted(p.current.describe()))
		}
	}
	return &Tuple{At(line), items}
}

func (p *parser) tupleEnd(ends []string) bool {
	return p.current.kind == variableEnd || p.current.kind == blockEnd || p.current.is(")") || p.atName(ends)
}

func (p *parser) list() Expr {
	at := At(p.expectOperator("[").line)
	p.enter(perLevel)
	defer p.leave(perLevel)
	var items []Expr
	for !p.current.is("]") {
		if len(items) > 0 {
			p.expectOperator(",")
		}
		if p.current.is("]") {
			break
		}
		items = append(items, p.expression())
	}
	p.expectOperator("]")
	return &List{at, items}
}

func (p *parser) dict() Expr {
	d := &Dict{At: At(p.expectOperator("{").line)}
	p.enter(perLevel)
	defer p.leave(perLevel)
	for !p.current.is("}") {
		if len(d.Keys) > 0 {
			p.expectOperator(",")
		}
		if p.current.is("}") {
			break
		}
		d.Keys = append(d.Keys, p.expression())
		p.expectOperator(":")
		d.Values = append(d.Values, p.expression())
	}
	p.expectOperator("}")
	return d
}
