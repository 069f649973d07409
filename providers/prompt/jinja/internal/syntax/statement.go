package syntax

import (
	"strings"

	"github.com/interlock-harness/interlock/providers/prompt/jinja/internal/python"
)

// statement reads one tag and its body.
func (p *parser) statement() Stmt {
	t := p.current
	if t.kind != name {
		p.fail(t.line, "tag name expected")
	}
	read, ok := tags[t.text]
	if !ok {
		p.unknown(t.text, nil)
	}
	p.tags = append(p.tags, t.text)
	s := read(p)
	p.tags = p.tags[:len(p.tags)-1]
	return s
}

var tags map[string]func(*parser) Stmt

func init() {
	tags = map[string]func(*parser) Stmt{
		"for": (*parser).forLoop, "if": (*parser).ifChain, "set": (*parser).set, "macro": (*parser).macro, "call": (*parser).callBlock,
		"filter": (*parser).filterBlock, "with": (*parser).with, "autoescape": (*parser).autoescape, "block": (*parser).namedBlock,
		"print": (*parser).print, "extends": (*parser).extends, "include": (*parser).include, "import": (*parser).importAs,
		"from": (*parser).fromImport, "break": (*parser).jump, "continue": (*parser).jump, "generation": (*parser).generation,
	}
}

func (p *parser) set() Stmt {
	at := At(p.next().line)
	target := p.target(nil, true)
	if p.skipOperator("=") {
		return &Assign{at, target, p.tuple(tupleRule{condition: true})}
	}
	filter, _ := p.filters(nil).(*Filter)
	return &AssignBlock{at, target, filter, p.block(true, "endset")}
}

func (p *parser) forLoop() Stmt {
	at := At(p.expectName("for").line)
	s := &For{At: at, Target: p.target([]string{"in"}, false)}
	p.expectName("in")
	s.Iter = p.tuple(tupleRule{ends: []string{"recursive"}})
	if p.skipName("if") {
		s.Test = p.expression()
	}
	s.Recursive = p.skipName("recursive")
	s.Body = p.block(false, "endfor", "else")
	if !p.next().named("endfor") {
		s.Else = p.block(true, "endfor")
	}
	return s
}

func (p *parser) ifChain() Stmt {
	first := &If{At: At(p.expectName("if").line)}
	for s := first; ; {
		s.Test = p.tuple(tupleRule{})
		s.Body = p.block(false, "elif", "else", "endif")
		t := p.next()
		if t.named("elif") {
			s = &If{At: At(p.current.line)}
			first.Elifs = append(first.Elifs, s)
			continue
		}
		if t.named("else") {
			first.Else = p.block(true, "endif")
		}
		return first
	}
}

func (p *parser) with() Stmt {
	s := &With{At: At(p.next().line)}
	for p.current.kind != blockEnd {
		if len(s.Targets) > 0 {
			p.expectOperator(",")
		}
		s.Targets = append(s.Targets, p.target(nil, false))
		p.expectOperator("=")
		s.Values = append(s.Values, p.expression())
	}
	s.Body = p.block(true, "endwith")
	return s
}

func (p *parser) autoescape() Stmt {
	s := &Autoescape{At: At(p.next().line)}
	s.Value = p.expression()
	s.Body = p.block(true, "endautoescape")
	return s
}

func (p *parser) namedBlock() Stmt {
	s := &Block{At: At(p.next().line)}
	s.Name = p.expect(name).text
	s.Scoped = p.skipName("scoped")
	s.Required = p.skipName("required")
	if p.current.is("-") {
		p.fail(p.current.line, "Block names in Jinja have to be valid Python identifiers and may not contain hyphens, use an underscore instead.")
	}
	s.Body = p.block(true, "endblock")
	if s.Required && !blank(s.Body) {
		p.fail(p.current.line, "Required blocks can only contain comments or whitespace")
	}
	p.skipName(s.Name)
	return s
}

// blank says whether a body holds nothing but white space. A body with a
// statement in it makes Jinja itself stumble, over a node without parts.
func blank(body []Stmt) bool {
	for _, s := range body {
		out, ok := s.(*Output)
		if !ok {
			python.Raise("AttributeError", "a statement object has no attribute 'nodes'")
		}
		for _, part := range out.Parts {
			d, ok := part.(*Data)
			if !ok || strings.TrimFunc(d.Text, python.IsSpace) != "" {
				return false
			}
		}
	}
	return true
}

func (p *parser) extends() Stmt {
	at := At(p.next().line)
	return &Load{At: at, Tag: "extends", Template: p.expression()}
}

func (p *parser) include() Stmt {
	s := &Load{At: At(p.next().line), Tag: "include"}
	s.Template = p.expression()
	if p.current.named("ignore") && p.look().named("missing") {
		s.IgnoreMissing = true
		p.next()
		p.next()
	}
	p.context()
	return s
}

// context skips "with context" and "without context".
func (p *parser) context() bool {
	if (p.current.named("with") || p.current.named("without")) && p.look().named("context") {
		p.next()
		p.next()
		return true
	}
	return false
}

func (p *parser) importAs() Stmt {
	s := &Load{At: At(p.next().line), Tag: "import"}
	s.Template = p.expression()
	p.expectName("as")
	s.Targets = []string{p.targetName().Name}
	p.context()
	return s
}

func (p *parser) fromImport() Stmt {
	s := &Load{At: At(p.next().line), Tag: "from"}
	s.Template = p.expression()
	p.expectName("import")
	for {
		if len(s.Targets) > 0 {
			p.expectOperator(",")
		}
		if p.current.kind != name {
			p.expect(name)
		}
		if p.context() {
			return s
		}
		target := p.targetName()
		if strings.HasPrefix(target.Name, "_") {
			panic(&python.Error{Class: "TemplateAssertionError", Message: "names starting with an underline can not be imported", Line: target.Line()})
		}
		if p.skipName("as") {
			target = p.targetName()
		}
		s.Targets = append(s.Targets, target.Name)
		if p.context() || !p.current.is(",") {
			return s
		}
	}
}

func (p *parser) signature() Signature {
	var s Signature
	p.expectOperator("(")
	for !p.current.is(")") {
		if len(s.Params) > 0 {
			p.expectOperator(",")
		}
		param := p.targetName().Name
		if p.skipOperator("=") {
			s.Defaults = append(s.Defaults, p.expression())
		} else if len(s.Defaults) > 0 {
			p.fail(p.current.line, "non-default argument follows default argument")
		}
		s.Params = append(s.Params, param)
	}
	p.expectOperator(")")
	return s
}

func (p *parser) callBlock() Stmt {
	s := &CallBlock{At: At(p.next().line)}
	if p.current.is("(") {
		s.Signature = p.signature()
	}
	call, ok := p.expression().(*Call)
	if !ok {
		p.fail(s.Line(), "expected call")
	}
	s.Call = call
	s.Body = p.block(true, "endcall")
	return s
}

// generation marks what the assistant wrote. It is a call block around the
// extension's own function, which prints its caller.
func (p *parser) generation() Stmt {
	at := At(p.next().line)
	return &CallBlock{At: at, Call: &Call{At: at}, Body: p.block(true, "endgeneration")}
}

func (p *parser) filterBlock() Stmt {
	at := At(p.next().line)
	filter := p.filter(nil)
	for n := 1; p.current.is("|"); n++ {
		p.chained(n)
		p.next()
		filter = p.filter(filter)
	}
	return &FilterBlock{at, filter, p.block(true, "endfilter")}
}

func (p *parser) macro() Stmt {
	s := &Macro{At: At(p.next().line)}
	s.Name = p.targetName().Name
	s.Signature = p.signature()
	s.Body = p.block(true, "endmacro")
	return s
}

func (p *parser) print() Stmt {
	s := &Output{At: At(p.next().line)}
	for p.current.kind != blockEnd {
		if len(s.Parts) > 0 {
			p.expectOperator(",")
		}
		s.Parts = append(s.Parts, p.expression())
	}
	return s
}

func (p *parser) jump() Stmt {
	t := p.next()
	return &Jump{At(t.line), t.text == "break"}
}

// targetName reads a name that is assigned to.
func (p *parser) targetName() *Name {
	t := p.expect(name)
	target := &Name{At(t.line), t.text}
	p.checkTarget(target)
	return target
}

// target reads what is assigned to: names, tuples of them, and with namespace
// one attribute of a namespace.
func (p *parser) target(ends []string, namespace bool) Expr {
	if namespace && p.look().is(".") {
		t := p.expect(name)
		p.next()
		return &NamespaceRef{At(t.line), t.text, p.expect(name).text}
	}
	target := p.tuple(tupleRule{simple: true, ends: ends})
	p.checkTarget(target)
	return target
}

// checkTarget fails unless something can be assigned to e.
func (p *parser) checkTarget(e Expr) {
	if !assignable(e) {
		p.fail(e.Line(), "can't assign to '%s'", typeName(e))
	}
}

func assignable(e Expr) bool {
	switch e := e.(type) {
	case *Name:
		return !constants[e.Name].known
	case *Tuple:
		for _, item := range e.Items {
			if !assignable(item) {
				return false
			}
		}
		return true
	}
	return false
}

// typeName names an expression as Jinja's node classes do, in lower case; all
// operators are one here.
func typeName(e Expr) string {
	switch e.(type) {
	case *Const:
		return "const"
	case *Name:
		return "name"
	case *Tuple:
		return "tuple"
	case *List:
		return "list"
	case *Dict:
		return "dict"
	}
	return "expression"
}
