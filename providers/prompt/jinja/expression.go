package jinja

import (
	"fmt"
	"math"
	"strings"

	"github.com/interlock-harness/interlock/providers/prompt/jinja/internal/builtin"
	"github.com/interlock-harness/interlock/providers/prompt/jinja/internal/python"
	"github.com/interlock-harness/interlock/providers/prompt/jinja/internal/syntax"
)

// expr compiles an expression. Kinds that Jinja optimises are folded into
// constants first, which may fail at once, before anything is rendered.
func (c *compiler) expr(e syntax.Expr, f frame) expr {
	switch e.(type) {
	case *syntax.Binary, *syntax.Unary, *syntax.Concat, *syntax.Compare, *syntax.GetAttr, *syntax.GetItem, *syntax.Filter, *syntax.Test, *syntax.Conditional, *syntax.Call:
		if !f.volatile && !f.folded {
			c.fold.Autoescape = f.autoescape
			e = c.optimize(e, f)
			f.folded = true
		}
	}
	if !f.checked {
		c.checkBrackets(e, f)
		f.checked = true
	}
	switch n := e.(type) {
	case *syntax.Const:
		return constant(n.Value)
	case *syntax.Data:
		return constant(n.Text)
	case *syntax.Name:
		return c.name(n, f)
	case *syntax.Tuple:
		items := c.exprs(n.Items, f)
		return func(a *activation) python.Value { return &python.Tuple{Items: evaluate(a, items)} }
	case *syntax.List:
		items := c.exprs(n.Items, f)
		return func(a *activation) python.Value { return &python.List{Items: evaluate(a, items)} }
	case *syntax.Dict:
		return c.dict(n, f)
	case *syntax.Conditional:
		return c.conditional(n, f)
	case *syntax.Binary:
		return c.binary(n, f)
	case *syntax.Unary:
		return c.unary(n, f)
	case *syntax.Concat:
		items := c.exprs(n.Items, f)
		escaping := f.autoescape || f.volatile
		return func(a *activation) python.Value { return python.JoinText(a.t, evaluate(a, items), escaping) }
	case *syntax.Compare:
		return c.compare(n, f)
	case *syntax.Filter:
		return c.filter(n, f, c.expr(n.Operand, f))
	case *syntax.Test:
		return c.test(n, f)
	case *syntax.Call:
		return c.call(n, f, false)
	case *syntax.GetAttr:
		obj, name := c.expr(n.Operand, f), n.Name
		return func(a *activation) python.Value { return python.GetAttr(a.t, obj(a), name) }
	case *syntax.GetItem:
		return c.item(n, f)
	case *syntax.Slice: // only inside of a tuple key, where Python has no syntax for it
		python.Raise("SyntaxError", "invalid syntax")
	}
	panic(fmt.Sprintf("no code for %T", e))
}

func (c *compiler) exprs(all []syntax.Expr, f frame) []expr {
	compiled := make([]expr, len(all))
	for i, e := range all {
		compiled[i] = c.expr(e, f)
	}
	return compiled
}

func evaluate(a *activation, all []expr) []python.Value {
	values := make([]python.Value, len(all))
	for i, e := range all {
		values[i] = e(a)
	}
	return values
}

// constant returns v. Containers are made anew each time, as the list display
// that Jinja writes for them would be; an infinite float is written as the
// name inf, which does not exist, and so is nan.
func constant(v python.Value) expr {
	if name := unwritable(v); name != "" {
		return func(*activation) python.Value {
			python.Raise("NameError", "name '%s' is not defined", name)
			return nil
		}
	}
	switch v.(type) {
	case *python.List, *python.Tuple, *python.Dict:
		return func(*activation) python.Value { return python.Thaw(v) }
	}
	return func(*activation) python.Value { return v }
}

// unwritable returns inf or nan where v contains it, and nothing otherwise.
func unwritable(v python.Value) string {
	switch x := v.(type) {
	case float64:
		if math.IsInf(x, 0) || math.IsNaN(x) {
			return strings.TrimPrefix(python.FloatRepr(x), "-")
		}
	case *python.List:
		return anyUnwritable(x.Items)
	case *python.Tuple:
		return anyUnwritable(x.Items)
	case *python.Dict:
		for i := range x.Len() {
			k, value := x.At(i)
			if name := anyUnwritable([]python.Value{k, value}); name != "" {
				return name
			}
		}
	}
	return ""
}

func anyUnwritable(items []python.Value) string {
	for _, item := range items {
		if name := unwritable(item); name != "" {
			return name
		}
	}
	return ""
}

func (c *compiler) name(n *syntax.Name, f frame) expr {
	p, name := f.place(n.Name), n.Name
	if load := f.scope.must(n.Name).vars[n.Name].load; load == loadParameter && !f.defaults {
		return p.get // given, or what Jinja shows of a loop that is over: its mark for missing
	}
	if p.up == 0 {
		slot := p.slot
		return func(a *activation) python.Value {
			if v := a.slots[slot]; python.Given(v) {
				return v
			}
			return python.UndefinedName(name)
		}
	}
	return func(a *activation) python.Value {
		if v := p.get(a); python.Given(v) {
			return v
		}
		return python.UndefinedName(name)
	}
}

func (c *compiler) dict(n *syntax.Dict, f frame) expr {
	keys, values := c.exprs(n.Keys, f), c.exprs(n.Values, f)
	return func(a *activation) python.Value {
		d := python.NewDict()
		for i := range keys {
			k := keys[i](a)
			d.Set(k, values[i](a))
		}
		return d
	}
}

func (c *compiler) conditional(n *syntax.Conditional, f frame) expr {
	f.soft = true
	then, test := c.expr(n.Then, f), c.expr(n.Test, f)
	var otherwise expr
	if n.Else != nil {
		otherwise = c.expr(n.Else, f)
	} else {
		hint := fmt.Sprintf("the inline if-expression on line %d evaluated to false and no else section was defined.", n.Line())
		otherwise = func(*activation) python.Value { return python.UndefinedHint(hint) }
	}
	return func(a *activation) python.Value {
		if python.Truth(a.t, test(a)) {
			return then(a)
		}
		return otherwise(a)
	}
}

var arithmetic = map[string]func(*python.Thread, python.Value, python.Value) python.Value{
	"+": python.Add, "-": python.Sub, "*": python.Mul, "/": python.Div, "//": python.FloorDiv, "%": python.Mod, "**": python.Pow,
}

func (c *compiler) binary(n *syntax.Binary, f frame) expr {
	left, right := c.expr(n.Left, f), c.expr(n.Right, f)
	switch n.Op {
	case "and":
		return func(a *activation) python.Value {
			if v := left(a); !python.Truth(a.t, v) {
				return v
			}
			return right(a)
		}
	case "or":
		return func(a *activation) python.Value {
			if v := left(a); python.Truth(a.t, v) {
				return v
			}
			return right(a)
		}
	}
	op := arithmetic[n.Op]
	return func(a *activation) python.Value {
		l := left(a)
		return op(a.t, l, right(a))
	}
}

func (c *compiler) unary(n *syntax.Unary, f frame) expr {
	operand := c.expr(n.Operand, f)
	switch n.Op {
	case "not":
		return func(a *activation) python.Value { return !python.Truth(a.t, operand(a)) }
	case "-":
		return func(a *activation) python.Value { return python.Neg(a.t, operand(a)) }
	}
	return func(a *activation) python.Value { return python.Pos(a.t, operand(a)) }
}

// compared returns left op right.
func compared(t *python.Thread, op string, left, right python.Value) bool {
	switch op {
	case "==":
		return python.Equal(t, left, right)
	case "!=":
		return !python.Equal(t, left, right)
	case "in":
		return python.Contains(t, right, left)
	case "not in":
		return !python.Contains(t, right, left)
	}
	return python.Compare(t, python.Op(op), left, right)
}

func (c *compiler) compare(n *syntax.Compare, f frame) expr {
	first, rest, ops := c.expr(n.First, f), c.exprs(n.Rest, f), n.Ops
	if len(rest) == 1 {
		op, second := ops[0], rest[0]
		return func(a *activation) python.Value {
			left := first(a)
			return compared(a.t, op, left, second(a))
		}
	}
	return func(a *activation) python.Value {
		left := first(a)
		for i, e := range rest {
			right := e(a)
			if !compared(a.t, ops[i], left, right) {
				return false
			}
			left = right
		}
		return true
	}
}

func (c *compiler) item(n *syntax.GetItem, f frame) expr {
	obj := c.expr(n.Operand, f)
	if s, ok := n.Key.(*syntax.Slice); ok {
		bounds := c.exprs([]syntax.Expr{orNone(s.Start), orNone(s.Stop), orNone(s.Step)}, f)
		return func(a *activation) python.Value {
			o := obj(a)
			b := evaluate(a, bounds)
			return python.GetSlice(a.t, o, b[0], b[1], b[2])
		}
	}
	key := c.expr(n.Key, f)
	return func(a *activation) python.Value {
		o := obj(a)
		return python.GetItem(a.t, o, key(a))
	}
}

func orNone(e syntax.Expr) syntax.Expr {
	if e == nil {
		return &syntax.Const{}
	}
	return e
}

// filter compiles a filter over operand.
func (c *compiler) filter(n *syntax.Filter, f frame, operand expr) expr {
	known, ok := builtin.Filters[n.Name]
	if !ok {
		return c.unknown("filter", n.Name, n.Line(), f, operand, c.args(n.Args, f, nil))
	}
	args := c.args(n.Args, f, nil)
	return func(a *activation) python.Value {
		v := operand(a)
		return known.Call(a.t, v, args(a))
	}
}

func (c *compiler) test(n *syntax.Test, f frame) expr {
	operand := c.expr(n.Operand, f)
	known, ok := builtin.Tests[n.Name]
	args := c.args(n.Args, f, nil)
	if !ok {
		return c.unknown("test", n.Name, n.Line(), f, operand, args)
	}
	return func(a *activation) python.Value {
		v := operand(a)
		return known(a.t, v, args(a))
	}
}

// unknown is a filter or test that does not exist: an error at once, or inside
// an if when it is reached.
func (c *compiler) unknown(what, name string, line int, f frame, operand expr, args func(*activation) python.Args) expr {
	if !f.soft {
		assertion(line, "%s.", unknownName(what, name))
	}
	return func(a *activation) python.Value {
		operand(a)
		if len(args(a).Names) > 0 {
			python.Raise(python.TypeError, "pull_dependencies.<locals>.%s() got an unexpected keyword argument", name)
		}
		python.Raise(python.TemplateRuntimeError, "%s found.", unknownName(what, name))
		return nil
	}
}
