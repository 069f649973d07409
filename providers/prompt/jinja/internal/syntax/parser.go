package syntax

import (
	"fmt"
	"strings"

	"github.com/interlock-harness/interlock/providers/prompt/jinja/internal/python"
)

// parser reads statements and expressions from tokens. It panics with
// *python.Error, which Parse recovers.
type parser struct {
	lex     *lexer
	current token
	ahead   []token // looked at and pushed back
	tags    []string
	ends    [][]string
	depth   int
}

// maxDepth stands for CPython's recursion limit: the frames that Jinja's
// recursive descent may stack before it raises RecursionError.
const maxDepth = 978

// maxChain is how many operators of one kind may follow each other: Jinja
// folds a chain of constants by recursion, two frames for each.
const maxChain = 490

// Parse returns the statements of a template.
func Parse(source string) (body []Stmt, err *python.Error) {
	err = python.Catch(func() {
		p := &parser{lex: newLexer(source), current: token{kind: initial, line: 1}}
		p.next()
		body = p.statements(nil)
	})
	return body, err
}

// next goes one token ahead and returns the one it leaves.
func (p *parser) next() token {
	left := p.current
	switch {
	case len(p.ahead) > 0:
		p.current = p.ahead[0]
		p.ahead = p.ahead[1:]
	case p.current.kind != eof:
		t := p.lex.next()
		if t.kind == failure {
			panic(t.value)
		}
		if t.kind == eof {
			t.line = left.line
		}
		p.current = t
	}
	return left
}

// look returns the token behind the current one.
func (p *parser) look() token {
	old := p.next()
	result := p.current
	p.ahead = append(p.ahead, result)
	p.current = old
	return result
}

func (p *parser) skipOperator(op string) bool {
	if p.current.is(op) {
		p.next()
		return true
	}
	return false
}

func (p *parser) skipName(s string) bool {
	if p.current.named(s) {
		p.next()
		return true
	}
	return false
}

func (p *parser) expectOperator(op string) token {
	if !p.current.is(op) {
		p.unexpected(op)
	}
	return p.next()
}

func (p *parser) expectName(s string) token {
	if !p.current.named(s) {
		p.unexpected(s)
	}
	return p.next()
}

func (p *parser) expect(k kind) token {
	if p.current.kind != k {
		p.unexpected(k.describe())
	}
	return p.next()
}

func (p *parser) unexpected(want string) {
	if p.current.kind == eof {
		p.fail(p.current.line, "unexpected end of template, expected %s.", quoted(want))
	}
	p.fail(p.current.line, "expected token %s, got %s", quoted(want), quoted(p.current.describe()))
}

func quoted(s string) string { return "'" + s + "'" }

func (p *parser) fail(line int, format string, args ...any) {
	panic(&python.Error{Class: "TemplateSyntaxError", Message: fmt.Sprintf(format, args...), Line: line})
}

// enter goes n frames of Jinja's parser deeper; leave comes back.
func (p *parser) enter(n int) {
	if p.depth += n; p.depth > maxDepth {
		panic(&python.Error{Class: python.RecursionError, Message: "maximum recursion depth exceeded", Line: p.current.line})
	}
}

// chained counts the n-th operator of a chain.
func (p *parser) chained(n int) {
	if n > maxChain {
		panic(&python.Error{Class: python.RecursionError, Message: "maximum recursion depth exceeded", Line: p.current.line})
	}
}

func (p *parser) leave(n int) { p.depth -= n }

// atName says whether the current token is one of names.
func (p *parser) atName(names []string) bool {
	if p.current.kind != name {
		return false
	}
	for _, n := range names {
		if n == p.current.text {
			return true
		}
	}
	return false
}

// statements reads up to a tag that is one of ends, which stays the current
// token; nil ends reads the whole template.
func (p *parser) statements(ends []string) []Stmt {
	p.enter(4)
	defer p.leave(4)
	if ends != nil {
		p.ends = append(p.ends, ends)
		defer func() { p.ends = p.ends[:len(p.ends)-1] }()
	}
	var body []Stmt
	var parts []Expr
	flush := func() {
		if len(parts) > 0 {
			body = append(body, &Output{At(parts[0].Line()), parts})
			parts = nil
		}
	}
	for p.current.kind != eof || len(p.ahead) > 0 {
		switch p.current.kind {
		case data:
			parts = append(parts, &Data{At(p.current.line), p.current.text})
			p.next()
		case variableBegin:
			p.next()
			parts = append(parts, p.tuple(tupleRule{condition: true}))
			p.expect(variableEnd)
		default: // blockBegin: nothing else stands outside of tags
			flush()
			p.next()
			if ends != nil && p.atName(ends) {
				return body
			}
			body = append(body, p.statement())
			p.expect(blockEnd)
		}
	}
	flush()
	return body
}

// block reads the body of a tag up to one of ends. With drop the end's name is
// consumed too.
func (p *parser) block(drop bool, ends ...string) []Stmt {
	p.skipOperator(":") // as Python would write it
	p.expect(blockEnd)
	body := p.statements(ends)
	if p.current.kind == eof {
		p.unknown("", ends)
	}
	if drop {
		p.next()
	}
	return body
}

// unknown fails at a tag that fits nowhere, or at the end of the template when
// tag is empty and ends are what was looked for.
func (p *parser) unknown(tag string, ends []string) {
	stack := p.ends
	if ends != nil {
		stack = append(append([][]string(nil), stack...), ends)
	}
	message := []string{"Unexpected end of template."}
	if tag != "" {
		message[0] = "Encountered unknown tag '" + tag + "'."
	}
	if len(stack) > 0 {
		looking := alternatives(stack[len(stack)-1])
		if tag != "" && expected(stack, tag) {
			message = append(message, "You probably made a nesting mistake. Jinja is expecting this tag, but currently looking for "+looking+".")
		} else {
			message = append(message, "Jinja was looking for the following tags: "+looking+".")
		}
	}
	if len(p.tags) > 0 {
		message = append(message, "The innermost block that needs to be closed is '"+p.tags[len(p.tags)-1]+"'.")
	}
	p.fail(p.current.line, "%s", strings.Join(message, " "))
}

func expected(stack [][]string, tag string) bool {
	for _, ends := range stack {
		for _, end := range ends {
			if end == tag {
				return true
			}
		}
	}
	return false
}
