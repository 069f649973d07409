package syntax

// postfix reads what may follow an operand: .name, [key] and (arguments).
func (p *parser) postfix(e Expr) Expr {
	for n := 0; ; n++ {
		p.chained(n)
		switch {
		case p.current.is("."):
			e = p.attribute(e)
		case p.current.is("["):
			e = p.item(e)
		case p.current.is("("):
			e = p.call(e)
		default:
			return e
		}
	}
}

// filterExpr reads |filter, is test and (arguments) behind an operand.
func (p *parser) filterExpr(e Expr) Expr {
	for n := 0; ; n++ {
		p.chained(n)
		switch {
		case p.current.is("|"):
			e = p.filters(e)
		case p.current.named("is"):
			e = p.test(e)
		case p.current.is("("):
			e = p.call(e)
		default:
			return e
		}
	}
}

func (p *parser) attribute(e Expr) Expr {
	at := At(p.next().line)
	t := p.next()
	switch t.kind {
	case name:
		return &GetAttr{at, e, t.text}
	case integer:
		return &GetItem{at, e, &Const{At(t.line), t.value}}
	}
	p.fail(t.line, "expected name or number")
	return nil
}

func (p *parser) item(e Expr) Expr {
	at := At(p.next().line)
	p.enter(perLevel + 1)
	defer p.leave(perLevel + 1)
	var keys []Expr
	for !p.current.is("]") {
		if len(keys) > 0 {
			p.expectOperator(",")
		}
		keys = append(keys, p.subscript())
	}
	p.expectOperator("]")
	if len(keys) == 1 {
		return &GetItem{at, e, keys[0]}
	}
	return &GetItem{at, e, &Tuple{at, keys}}
}

// subscript reads a key or a slice.
func (p *parser) subscript() Expr {
	s := &Slice{At: At(p.current.line)}
	if p.current.is(":") {
		p.next()
	} else {
		e := p.expression()
		if !p.current.is(":") {
			return e
		}
		p.next()
		s.Start = e
	}
	last := func() bool { return p.current.is("]") || p.current.is(",") }
	if !p.current.is(":") && !last() {
		s.Stop = p.expression()
	}
	if p.skipOperator(":") && !last() {
		s.Step = p.expression()
	}
	return s
}

func (p *parser) call(e Expr) Expr {
	at := At(p.current.line)
	return &Call{at, e, p.args()}
}

func (p *parser) args() Args {
	line := p.expectOperator("(").line
	p.enter(perLevel + 1)
	defer p.leave(perLevel + 1)
	var a Args
	ensure := func(ok bool) {
		if !ok {
			p.fail(line, "invalid syntax for function call expression")
		}
	}
	for comma := false; !p.current.is(")"); comma = true {
		if comma {
			p.expectOperator(",")
			if p.current.is(")") {
				break
			}
		}
		switch {
		case p.current.is("*"):
			ensure(a.Star == nil && a.StarStar == nil)
			p.next()
			a.Star = p.expression()
		case p.current.is("**"):
			ensure(a.StarStar == nil)
			p.next()
			a.StarStar = p.expression()
		case p.current.kind == name && p.look().is("="):
			ensure(a.StarStar == nil)
			a.Names = append(a.Names, p.next().text)
			p.next()
			a.Named = append(a.Named, p.expression())
		default:
			ensure(a.Star == nil && a.StarStar == nil && len(a.Names) == 0)
			a.Pos = append(a.Pos, p.expression())
		}
	}
	p.expectOperator(")")
	return a
}

// filters reads |name(arguments), once or more often.
func (p *parser) filters(e Expr) Expr {
	for n := 1; p.current.is("|"); n++ {
		p.chained(n)
		p.next()
		e = p.filter(e)
	}
	return e
}

func (p *parser) filter(e Expr) *Filter {
	t := p.expect(name)
	f := &Filter{At: At(t.line), Operand: e, Name: p.dotted(t.text)}
	if p.current.is("(") {
		f.Args = p.args()
	}
	return f
}

// dotted reads the rest of a name with dots in it.
func (p *parser) dotted(s string) string {
	for p.skipOperator(".") {
		s += "." + p.expect(name).text
	}
	return s
}

func (p *parser) test(e Expr) Expr {
	at := At(p.next().line)
	negated := p.skipName("not")
	t := &Test{At: at, Operand: e, Name: p.dotted(p.expect(name).text)}
	switch {
	case p.current.is("("):
		t.Args = p.args()
	case p.startsOperand():
		if p.current.named("is") {
			p.fail(p.current.line, "You cannot chain multiple tests with is")
		}
		t.Pos = []Expr{p.postfix(p.primary())}
	}
	if negated {
		return &Unary{at, "not", t}
	}
	return t
}

// startsOperand says whether the current token is the argument of a test that
// is written without parentheses.
func (p *parser) startsOperand() bool {
	switch p.current.kind {
	case name:
		return !p.atName([]string{"else", "or", "and"})
	case text, integer, float:
		return true
	}
	return p.current.is("[") || p.current.is("{")
}
