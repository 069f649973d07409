package jinja

import (
	"github.com/interlock-harness/interlock/providers/prompt/jinja/internal/python"
	"github.com/interlock-harness/interlock/providers/prompt/jinja/internal/syntax"
)

// Frames of CPython's recursion limit that are taken by a call (through the
// sandbox and the context) and by what it reaches: a macro, a recursive loop,
// a named block. Source: measured on CPython 3.11.
const (
	callFrames      = 2
	macroFrames     = 3
	recursionFrames = 3
	blockFrames     = 2
)

// macroCode is a compiled macro, or the body of a call block.
type macroCode struct {
	name     python.Value // None for a call block
	params   []string
	slots    []int
	defaults []expr // as many as params; nil where there is none
	caller   int    // slots of the special parameters, -1 when not read
	varargs  int
	kwargs   int
	explicit bool // caller is among params
	fn       *function
	enter    func(*activation)
	body     stmt
}

// macroBody compiles what a macro and a call block have in common. Reading
// caller, varargs or kwargs makes the macro take them.
func (c *compiler) macroBody(name python.Value, line int, sig syntax.Signature, body []syntax.Stmt, f frame) *macroCode {
	in := f.inFunction()
	in.buffered = true
	m := &macroCode{name: name, params: sig.Params, fn: in.fn, caller: -1, varargs: -1, kwargs: -1}
	seen := map[string]bool{}
	for _, p := range sig.Params {
		if seen[p] {
			python.Raise("SyntaxError", "duplicate argument '%s' in function definition", p)
		}
		seen[p] = true
		in.scope.parameter(p)
	}
	in.scope.exprs(sig.Defaults)
	in.scope.collect(body)

	read := readsUndeclared(body, "caller", "kwargs", "varargs")
	special := func(name string) int {
		in.scope.parameter(name)
		return in.fn.slot(in.scope, name)
	}
	m.explicit = seen["caller"]
	if read["caller"] {
		if m.explicit && !hasDefault(sig, "caller") {
			assertion(line, `When defining macros or call blocks the special "caller" argument must be omitted or be given a default.`)
		}
		if !m.explicit {
			m.caller = special("caller")
		}
	}
	if read["kwargs"] && !seen["kwargs"] {
		m.kwargs = special("kwargs")
	}
	if read["varargs"] && !seen["varargs"] {
		m.varargs = special("varargs")
	}
	first := len(sig.Params) - len(sig.Defaults)
	for i, p := range sig.Params {
		m.slots = append(m.slots, in.fn.slot(in.scope, p))
		if i < first {
			m.defaults = append(m.defaults, nil)
		} else {
			preset := in.indented(1)
			preset.defaults = true
			m.defaults = append(m.defaults, c.expr(sig.Defaults[i-first], preset))
		}
	}
	m.enter, m.body = in.enter(), c.body(body, in)
	return m
}

func hasDefault(sig syntax.Signature, name string) bool {
	for i, p := range sig.Params {
		if p == name {
			return i >= len(sig.Params)-len(sig.Defaults)
		}
	}
	return false
}

func (c *compiler) macro(n *syntax.Macro, f frame) stmt {
	m := c.macroBody(n.Name, n.Line(), n.Signature, n.Body, f)
	_, set := c.target(&syntax.Name{At: n.At, Name: n.Name}, f)
	return func(a *activation) signal {
		a.t.Step()
		set(a, &macroObject{code: m, at: a})
		return goOn
	}
}

// callBlock calls a macro with the body as its caller and prints what it
// returns, which must be text.
func (c *compiler) callBlock(n *syntax.CallBlock, f frame) stmt {
	m := c.macroBody(nil, n.Line(), n.Signature, n.Body, f)
	call := c.callWithCaller(n.Call, f)
	return func(a *activation) signal {
		a.caller = &macroObject{code: m, at: a}
		a.out.Add(call(a))
		return goOn
	}
}

func (c *compiler) callWithCaller(n *syntax.Call, f frame) expr {
	if n.Callee != nil && !f.volatile { // its constants are folded, the call itself never is
		c.fold.Autoescape = f.autoescape
		n = c.optimize(n, f).(*syntax.Call)
		f.folded = true
	}
	return c.call(n, f, true)
}

// captured runs body with a buffer of its own and returns what it wrote.
func captured(a *activation, body stmt) (text string, end signal) {
	out := a.out
	a.out = python.NewBuffer(a.t)
	end = body(a)
	written := a.out
	a.out = out
	if end == goOn {
		text = written.Joined()
	}
	return text, end
}

// filterChain compiles the filters of a block; their input is the block's text.
func (c *compiler) filterChain(n *syntax.Filter, f frame, text *place) expr {
	if !f.volatile && !f.folded {
		c.fold.Autoescape = f.autoescape
		n = c.optimize(n, f).(*syntax.Filter)
		f.folded = true
	}
	if n.Operand == nil {
		slot := text.slot
		return c.filter(n, f, func(a *activation) python.Value { return a.slots[slot] })
	}
	return c.filter(n, f, c.filterChain(n.Operand.(*syntax.Filter), f, text))
}

// blockText returns the variable that holds the text of a block while its
// filters run. Its name cannot be written in a template.
func blockText(f frame) *place {
	f.scope.parameter(" text")
	return &place{0, f.fn.slot(f.scope, " text")}
}

func (c *compiler) filterBlock(n *syntax.FilterBlock, f frame) stmt {
	in := f.inner()
	in.scope.collect(n.Body)
	in.scope.expr(n.Filter)
	text := blockText(in)
	in.buffered = true
	body := c.body(n.Body, in)
	apply := c.filterChain(n.Filter, in, text)
	enter, leave := in.enter(), in.leave()
	return func(a *activation) signal {
		enter(a)
		s, end := captured(a, body)
		if end != goOn {
			return end
		}
		a.slots[text.slot] = marked(a, s)
		a.out.Add(apply(a))
		leave(a)
		return goOn
	}
}

// marked returns text as safe while escaping is on.
func marked(a *activation, s string) python.Value {
	if a.t.Autoescape {
		return python.Markup(s)
	}
	return s
}

func (c *compiler) assignBlock(n *syntax.AssignBlock, f frame) stmt {
	in := f.inner()
	in.scope.collect(n.Body)
	text := blockText(in)
	in.buffered = true
	body := c.body(n.Body, in)
	check, set := c.target(n.Target, f)
	var apply expr
	if n.Filter != nil {
		apply = c.filterChain(n.Filter, in, text)
	}
	enter, leave := in.enter(), in.leave()
	return func(a *activation) signal {
		enter(a)
		s, end := captured(a, body)
		if end != goOn {
			return end
		}
		if check != nil {
			check(a)
		}
		v := marked(a, s)
		if apply != nil {
			a.slots[text.slot] = v
			v = apply(a)
			if a.t.Autoescape {
				if _, safe := v.(python.Markup); !safe {
					v = python.Markup(python.Str(a.t, v))
				}
			}
		}
		set(a, v)
		leave(a)
		return goOn
	}
}

// macroObject is a macro as a value: its code and where it was defined.
type macroObject struct {
	code *macroCode
	at   *activation
}

// Type is part of python.Object, as are Module, Attr and Repr.
func (m *macroObject) Type() string { return "Macro" }

// Module is Jinja's runtime.
func (m *macroObject) Module() string { return "jinja2.runtime" }

// Repr names the macro.
func (m *macroObject) Repr(t *python.Thread) string {
	if m.code.name == nil {
		return "<Macro anonymous>"
	}
	return "<Macro " + python.Repr(t, m.code.name) + ">"
}

// Attr returns what Jinja documents about macros.
func (m *macroObject) Attr(_ *python.Thread, name string) (python.Value, bool) {
	switch name {
	case "name":
		return m.code.name, true
	case "arguments":
		args := make([]python.Value, len(m.code.params))
		for i, p := range m.code.params {
			args[i] = p
		}
		return python.NewTuple(args...), true
	case "catch_kwargs":
		return m.code.kwargs >= 0, true
	case "catch_varargs":
		return m.code.varargs >= 0, true
	case "caller":
		return m.code.readsCaller(), true
	case "explicit_caller":
		return m.code.explicit, true
	}
	return nil, false
}

func (m *macroCode) readsCaller() bool { return m.caller >= 0 }

// Call binds the arguments the way Jinja's macros do and returns the text.
func (m *macroObject) Call(t *python.Thread, args python.Args) python.Value {
	t.Enter(macroFrames)
	defer t.Leave(macroFrames)
	code := m.code
	a := code.fn.start(m.at, t, m.at.ctx)
	n := min(len(args.Pos), len(code.params))
	for i := range n {
		a.slots[code.slots[i]] = args.Pos[i]
	}
	callerFound := code.explicit && n == len(code.params)
	for i := n; i < len(code.params); i++ {
		rest, v, ok := args.Without(code.params[i])
		if ok {
			args = rest
			a.slots[code.slots[i]] = v
		}
		callerFound = callerFound || code.params[i] == "caller"
	}
	if code.caller >= 0 && !callerFound {
		rest, v, ok := args.Without("caller")
		args = rest
		if !ok || v == nil {
			v = &python.Undefined{Hint: "No caller defined", Name: "caller", Class: python.UndefinedError}
		}
		a.slots[code.caller] = v
	}
	if code.kwargs >= 0 {
		a.slots[code.kwargs] = args.Dict()
	} else if len(args.Names) > 0 {
		m.refuse(t, args)
	}
	if code.varargs >= 0 {
		a.slots[code.varargs] = python.NewTuple(append([]python.Value(nil), args.Pos[n:]...)...)
	} else if len(args.Pos) > n {
		python.Raise(python.TypeError, "macro %s takes not more than %d argument(s)", python.Repr(t, code.name), len(code.params))
	}
	code.enter(a)
	for i, slot := range code.slots {
		if python.Given(a.slots[slot]) {
			continue
		}
		if code.defaults[i] != nil {
			a.slots[slot] = code.defaults[i](a)
		} else {
			a.slots[slot] = &python.Undefined{Hint: "parameter '" + code.params[i] + "' was not provided", Name: code.params[i], Class: python.UndefinedError}
		}
	}
	code.body(a)
	return marked(a, a.out.Joined())
}

// refuse raises for named arguments that the macro does not take.
func (m *macroObject) refuse(t *python.Thread, args python.Args) {
	name := python.Repr(t, m.code.name)
	if _, _, ok := args.Without("caller"); ok {
		python.Raise(python.TypeError, "macro %s was invoked with two values for the special caller argument. This is most likely a bug.", name)
	}
	python.Raise(python.TypeError, "macro %s takes no keyword argument %s", name, python.Repr(t, args.Names[0]))
}
