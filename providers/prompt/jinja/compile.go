package jinja

import (
	"fmt"
	"strings"

	"github.com/interlock-harness/interlock/providers/prompt/jinja/internal/builtin"
	"github.com/interlock-harness/interlock/providers/prompt/jinja/internal/python"
	"github.com/interlock-harness/interlock/providers/prompt/jinja/internal/syntax"
)

// compiler turns a tree into closures. It follows the code that Jinja
// generates, because that code decides what a name means after an if, what a
// macro sees of a loop, and which mistakes are found before rendering.
type compiler struct {
	blocks map[string]*blockCode
	fold   *python.Thread // for constants
}

// frame is where the compiler stands.
type frame struct {
	scope      *scope
	fn         *function
	top        bool // not inside a loop, macro or block: set is seen by named blocks
	soft       bool // inside an if: an unknown filter fails only when it is reached
	autoescape bool // inside {% autoescape true %}
	volatile   bool // inside {% autoescape expression %}: known at run time only
	defaults   bool // inside the default of a parameter, which others may not have yet
	indent     int  // levels of generated blocks around this place
	brackets   int  // of generated code around the expression that comes next
	buffered   bool // text is collected, not yielded
	checked    bool // inside an expression whose brackets are counted already
	folded     bool // inside an expression whose constants are folded already
}

// inner returns a frame with a scope of its own in the same function.
func (f frame) inner() frame {
	f.scope = newScope(f.scope, f.fn)
	f.top, f.soft = false, false
	return f
}

// inFunction is inner with a function of its own.
func (f frame) inFunction() frame {
	f.fn = newFunction(f.fn)
	f.scope = newScope(f.scope, f.fn)
	f.top, f.soft = false, false
	return f.indented(1)
}

// place returns where name lives, seen from f.
func (f frame) place(name string) place {
	s := f.scope.must(name)
	up := 0
	for fn := f.fn; fn != s.fn; fn = fn.parent {
		up++
	}
	return place{up, s.fn.slot(s, name)}
}

func assertion(line int, format string, args ...any) {
	panic(&python.Error{Class: "TemplateAssertionError", Message: fmt.Sprintf(format, args...), Line: line})
}

// enter returns the code that readies the variables of a scope.
func (f frame) enter() func(*activation) {
	var steps []func(*activation)
	for name, v := range f.scope.vars {
		slot := f.fn.slot(f.scope, name)
		switch v.load {
		case loadResolve:
			steps = append(steps, func(a *activation) { a.slots[slot] = a.ctx.resolve(name) })
		case loadAlias:
			outer := frame{scope: v.outer, fn: f.fn}.place(name)
			steps = append(steps, func(a *activation) { a.slots[slot] = outer.get(a) })
		case loadUndefined:
			steps = append(steps, func(a *activation) { a.slots[slot] = python.Missing })
		}
	}
	return func(a *activation) {
		for _, step := range steps {
			step(a)
		}
	}
}

// leave returns the code that forgets the variables of a scope, which a macro
// defined in it could still see.
func (f frame) leave() func(*activation) {
	var slots []int
	for name := range f.scope.vars {
		slots = append(slots, f.fn.slot(f.scope, name))
	}
	return func(a *activation) {
		for _, slot := range slots {
			a.slots[slot] = python.Missing
		}
	}
}

func (c *compiler) body(body []syntax.Stmt, f frame) stmt {
	all := make([]stmt, 0, len(body))
	for _, s := range body {
		all = append(all, c.statement(s, f))
	}
	return sequence(all)
}

func (c *compiler) statement(s syntax.Stmt, f frame) stmt {
	switch n := s.(type) {
	case *syntax.Output:
		return c.output(n, f)
	case *syntax.If:
		return c.ifChain(n, f)
	case *syntax.For:
		return c.forLoop(n, f)
	case *syntax.Assign:
		return c.assign(n, f)
	case *syntax.AssignBlock:
		return c.assignBlock(n, f)
	case *syntax.Macro:
		return c.macro(n, f)
	case *syntax.CallBlock:
		return c.callBlock(n, f)
	case *syntax.FilterBlock:
		return c.filterBlock(n, f)
	case *syntax.With:
		return c.with(n, f)
	case *syntax.Autoescape:
		return c.autoescape(n, f)
	case *syntax.Block:
		return c.block(n, f)
	case *syntax.Load:
		return c.load(n, f)
	case *syntax.Jump:
		return c.jump(n, f)
	}
	panic(fmt.Sprintf("no code for %T", s))
}

// output prints text and values. Constants become text here; whatever goes
// wrong with one goes wrong again when it is rendered.
func (c *compiler) output(n *syntax.Output, f frame) stmt {
	var all []stmt
	text := ""
	flush := func() {
		if s := text; s != "" {
			all = append(all, func(a *activation) signal {
				a.t.Step()
				a.out.WriteString(s)
				return goOn
			})
		}
		text = ""
	}
	for _, part := range n.Parts {
		if s, ok := c.constantText(part, f); ok {
			text += s
			continue
		}
		flush()
		all = append(all, c.print(part, f, len(n.Parts) == 1))
	}
	flush()
	return sequence(all)
}

func (c *compiler) print(e syntax.Expr, f frame, alone bool) stmt {
	if d, ok := e.(*syntax.Data); ok { // only when autoescape is not known yet
		return func(a *activation) signal {
			a.out.WriteString(d.Text)
			return goOn
		}
	}
	printed := f
	printed.brackets = 1 // str(...), and around it what collects text
	if f.buffered && alone {
		printed.brackets = 2
	} else if f.buffered {
		printed.brackets = 3
	}
	value := c.expr(e, printed)
	escape, volatile := f.autoescape, f.volatile
	return func(a *activation) signal {
		a.t.Step()
		v := value(a)
		if escape || volatile && a.t.Autoescape {
			a.out.WriteString(string(python.Escape(a.t, v)))
		} else {
			a.out.WriteString(python.Str(a.t, v))
		}
		return goOn
	}
}

func (c *compiler) ifChain(n *syntax.If, f frame) stmt {
	f.soft = true
	in := f.indented(1)
	type branch struct {
		test expr
		body stmt
	}
	branches := []branch{{c.expr(n.Test, f), c.body(n.Body, in)}}
	for _, elif := range n.Elifs {
		branches = append(branches, branch{c.expr(elif.Test, f), c.body(elif.Body, in)})
	}
	otherwise := c.body(n.Else, in)
	return func(a *activation) signal {
		a.t.Step()
		for i := range branches {
			if python.Truth(a.t, branches[i].test(a)) {
				return branches[i].body(a)
			}
		}
		return otherwise(a)
	}
}

// target returns the code that assigns to e, and the check that Jinja makes
// before it evaluates the value, if any.
func (c *compiler) target(e syntax.Expr, f frame) (check func(*activation), set func(*activation, python.Value)) {
	switch n := e.(type) {
	case *syntax.Name:
		p := f.place(n.Name) // always of this function: what is set here lives here
		if !f.top {
			return nil, func(a *activation, v python.Value) { a.slots[p.slot] = v }
		}
		name := n.Name
		return nil, func(a *activation, v python.Value) {
			a.slots[p.slot] = v
			if a.ctx.set != nil {
				a.ctx.set[name] = v
			}
		}
	case *syntax.NamespaceRef:
		return c.namespaceTarget(n, f)
	}
	items := e.(*syntax.Tuple).Items
	sets := make([]func(*activation, python.Value), len(items))
	for i, item := range items {
		_, sets[i] = c.target(item, f)
	}
	return nil, func(a *activation, v python.Value) {
		for i, item := range python.Unpack(a.t, v, len(sets)) {
			sets[i](a, item)
		}
	}
}

func (c *compiler) namespaceTarget(n *syntax.NamespaceRef, f frame) (check func(*activation), set func(*activation, python.Value)) {
	p, attr := f.place(n.Name), n.Attr
	check = func(a *activation) {
		if _, ok := p.get(a).(*builtin.Namespace); !ok {
			python.Raise(python.TemplateRuntimeError, "cannot assign attribute on non-namespace object")
		}
	}
	return check, func(a *activation, v python.Value) { p.get(a).(*builtin.Namespace).Set(attr, v) }
}

func (c *compiler) assign(n *syntax.Assign, f frame) stmt {
	check, set := c.target(n.Target, f)
	value := c.expr(n.Value, f)
	return func(a *activation) signal {
		a.t.Step()
		if check != nil {
			check(a)
		}
		set(a, value(a))
		return goOn
	}
}

func (c *compiler) with(n *syntax.With, f frame) stmt {
	in := f.inner()
	for _, target := range n.Targets {
		in.scope.target(target, true)
	}
	in.scope.collect(n.Body)
	sets := make([]func(*activation, python.Value), len(n.Targets))
	values := make([]expr, len(n.Targets))
	for i := range n.Targets {
		_, sets[i] = c.target(n.Targets[i], in)
		values[i] = c.expr(n.Values[i], f)
	}
	body, enter, leave := c.body(n.Body, in), in.enter(), in.leave()
	return func(a *activation) signal {
		enter(a)
		for i := range sets {
			sets[i](a, values[i](a))
		}
		end := body(a)
		if end == goOn {
			leave(a)
		}
		return end
	}
}

// autoescape switches HTML escaping on or off. A value that is not constant
// is known only when the template runs.
func (c *compiler) autoescape(n *syntax.Autoescape, f frame) stmt {
	in := f.inner()
	in.scope.expr(n.Value)
	in.scope.collect(n.Body)
	value := c.expr(n.Value, in)
	if v, ok := c.constant(n.Value, in); ok {
		in.autoescape = python.Truth(c.fold, v)
	} else {
		in.volatile = true
	}
	body, enter, leave := c.body(n.Body, in), in.enter(), in.leave()
	return func(a *activation) signal {
		enter(a)
		before := a.t.Autoescape
		a.t.Autoescape = python.Truth(a.t, value(a))
		end := body(a)
		if end == goOn {
			a.t.Autoescape = before
			leave(a)
		}
		return end
	}
}

// jump is break or continue. Outside of a loop Python would not compile it.
func (c *compiler) jump(n *syntax.Jump, f frame) stmt {
	if n.Break {
		if f.fn.loops == 0 {
			python.Raise("SyntaxError", "'break' outside loop")
		}
		return func(*activation) signal { return breakLoop }
	}
	if f.fn.loops == 0 {
		python.Raise("SyntaxError", "'continue' not properly in loop")
	}
	return func(*activation) signal { return continueLoop }
}

// load is a tag that needs another template. There is no loader.
func (c *compiler) load(n *syntax.Load, f frame) stmt {
	if n.Tag == "extends" && !f.top {
		assertion(n.Line(), "cannot use extend from a non top-level scope")
	}
	template := c.expr(n.Template, f)
	for _, target := range n.Targets {
		f.place(target)
	}
	include, ignore := n.Tag == "include", n.IgnoreMissing
	return func(a *activation) signal {
		v := template(a)
		if include && ignore && emptySelection(a.t, v) {
			return goOn
		}
		if include && emptySelection(a.t, v) {
			python.Raise("TemplatesNotFound", "Tried to select from an empty list of templates.")
		}
		if include && !isTemplateName(v) {
			python.Iterate(a.t, v)
		}
		python.Raise(python.TypeError, "no loader for this environment specified")
		return goOn
	}
}

func isTemplateName(v python.Value) bool {
	_, ok := python.Text(v)
	return ok || python.IsUndefined(v)
}

// emptySelection says whether v is a list of template names without any.
func emptySelection(t *python.Thread, v python.Value) bool {
	return !isTemplateName(v) && !python.Truth(t, v)
}

// unknownName is the message about a filter or test that does not exist.
func unknownName(what, name string) string {
	return strings.Join([]string{"No", what, "named", "'" + name + "'"}, " ")
}
