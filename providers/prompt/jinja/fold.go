package jinja

import (
	"math/big"

	"github.com/interlock-harness/interlock/providers/prompt/jinja/internal/builtin"
	"github.com/interlock-harness/interlock/providers/prompt/jinja/internal/python"
	"github.com/interlock-harness/interlock/providers/prompt/jinja/internal/syntax"
)

// Constants are folded while a template is compiled, which shows in three
// places: a mistake in a constant dict is found even where it is never
// reached, a constant that prints is computed by the rules of folding (a slice
// of nothing is undefined, not an error), and it costs nothing to render.

const foldFrames = 200

// foldThread bounds what is computed while one template is compiled. What needs
// more is left for the render, which has its own limits.
func foldThread() *python.Thread {
	return &python.Thread{Steps: 1_000_000, MaxBytes: 1 << 16, Frames: foldFrames}
}

// constantText returns the text that a part of an output always prints.
func (c *compiler) constantText(e syntax.Expr, f frame) (text string, ok bool) {
	if d, isData := e.(*syntax.Data); isData {
		return d.Text, !f.volatile
	}
	c.fold.Autoescape = f.autoescape
	err := python.Catch(func() {
		var v python.Value
		if v, ok = c.constant(e, f); !ok {
			return
		}
		if _, lazy := v.(*python.Iterator); lazy {
			ok = false // prints an address
			return
		}
		if f.autoescape {
			v = python.Escape(c.fold, v)
		}
		text = python.Str(c.fold, v)
	})
	return text, ok && err == nil
}

// optimize folds what is constant in e, from the inside out. It raises what
// Jinja raises while it compiles.
func (c *compiler) optimize(e syntax.Expr, f frame) syntax.Expr {
	switch n := e.(type) {
	case *syntax.Tuple:
		c.optimizeAll(n.Items, f)
	case *syntax.List:
		c.optimizeAll(n.Items, f)
	case *syntax.Dict:
		c.optimizeAll(n.Keys, f)
		c.optimizeAll(n.Values, f)
	case *syntax.Conditional:
		n.Test, n.Then, n.Else = c.optimizeMaybe(n.Test, f), c.optimizeMaybe(n.Then, f), c.optimizeMaybe(n.Else, f)
	case *syntax.Binary:
		n.Left, n.Right = c.optimize(n.Left, f), c.optimize(n.Right, f)
	case *syntax.Unary:
		n.Operand = c.optimize(n.Operand, f)
	case *syntax.Concat:
		c.optimizeAll(n.Items, f)
	case *syntax.Compare:
		n.First = c.optimize(n.First, f)
		c.optimizeAll(n.Rest, f)
	case *syntax.Filter:
		n.Operand = c.optimizeMaybe(n.Operand, f)
		c.optimizeArgs(&n.Args, f)
	case *syntax.Test:
		n.Operand = c.optimize(n.Operand, f)
		c.optimizeArgs(&n.Args, f)
	case *syntax.Call:
		n.Callee = c.optimizeMaybe(n.Callee, f)
		c.optimizeArgs(&n.Args, f)
		return e
	case *syntax.GetAttr:
		n.Operand = c.optimize(n.Operand, f)
	case *syntax.GetItem:
		n.Operand, n.Key = c.optimize(n.Operand, f), c.optimize(n.Key, f)
	case *syntax.Slice:
		n.Start, n.Stop, n.Step = c.optimizeMaybe(n.Start, f), c.optimizeMaybe(n.Stop, f), c.optimizeMaybe(n.Step, f)
		return e
	default:
		return e
	}
	v, ok := c.constant(e, f)
	if !ok || !representable(v) {
		return e
	}
	return &syntax.Const{At: syntax.At(e.Line()), Value: v}
}

func (c *compiler) optimizeMaybe(e syntax.Expr, f frame) syntax.Expr {
	if e == nil {
		return nil
	}
	return c.optimize(e, f)
}

func (c *compiler) optimizeAll(all []syntax.Expr, f frame) {
	for i := range all {
		all[i] = c.optimize(all[i], f)
	}
}

func (c *compiler) optimizeArgs(a *syntax.Args, f frame) {
	c.optimizeAll(a.Pos, f)
	c.optimizeAll(a.Named, f)
	a.Star, a.StarStar = c.optimizeMaybe(a.Star, f), c.optimizeMaybe(a.StarStar, f)
}

// representable says whether Jinja can write v into generated code.
func representable(v python.Value) bool {
	switch x := v.(type) {
	case nil, bool, int, *big.Int, float64, string, python.Markup, *python.Range:
		return true
	case *python.List:
		return allRepresentable(x.Items)
	case *python.Tuple:
		return x.Fields == nil && allRepresentable(x.Items)
	case *python.Dict:
		for i := range x.Len() {
			if k, value := x.At(i); !representable(k) || !representable(value) {
				return false
			}
		}
		return true
	}
	return false
}

func allRepresentable(items []python.Value) bool {
	for _, item := range items {
		if !representable(item) {
			return false
		}
	}
	return true
}

// constant returns the value of e where it does not depend on the render.
func (c *compiler) constant(e syntax.Expr, f frame) (v python.Value, ok bool) {
	switch n := e.(type) {
	case *syntax.Const:
		return n.Value, true
	case *syntax.Tuple:
		items, ok := c.constants(n.Items, f)
		return &python.Tuple{Items: items}, ok
	case *syntax.List:
		items, ok := c.constants(n.Items, f)
		return &python.List{Items: items}, ok
	case *syntax.Dict:
		return c.constantDict(n, f)
	case *syntax.Conditional:
		test, ok := c.constant(n.Test, f)
		if !ok {
			return nil, false
		}
		if python.Truth(c.fold, test) {
			return c.constant(n.Then, f)
		}
		if n.Else == nil {
			return nil, false
		}
		return c.constant(n.Else, f)
	case *syntax.Binary:
		return c.constantBinary(n, f)
	case *syntax.Unary:
		return c.attempt(func() (python.Value, bool) { return c.constantUnary(n, f) })
	case *syntax.Concat:
		items, ok := c.constants(n.Items, f)
		if !ok {
			return nil, false
		}
		return c.limited(func() (python.Value, bool) { return python.JoinText(c.fold, items, false), true })
	case *syntax.Compare:
		return c.constantCompare(n, f)
	case *syntax.Filter:
		filter, known := builtin.Filters[n.Name]
		if f.volatile || !known || filter.Context || n.Operand == nil {
			return nil, false
		}
		return c.constantApply(n.Operand, n.Args, f, func(v python.Value, a python.Args) python.Value { return filter.Call(c.fold, v, a) })
	case *syntax.Test:
		test, known := builtin.Tests[n.Name]
		if f.volatile || !known {
			return nil, false
		}
		return c.constantApply(n.Operand, n.Args, f, func(v python.Value, a python.Args) python.Value { return test(c.fold, v, a) })
	case *syntax.GetAttr:
		return c.attempt(func() (python.Value, bool) {
			obj, ok := c.constant(n.Operand, f)
			if !ok {
				return nil, false
			}
			return python.GetAttr(c.fold, obj, n.Name), true
		})
	case *syntax.GetItem:
		return c.attempt(func() (python.Value, bool) {
			obj, ok := c.constant(n.Operand, f)
			if !ok {
				return nil, false
			}
			key, ok := c.constant(n.Key, f)
			if !ok {
				return nil, false
			}
			return python.GetItem(c.fold, obj, key), true
		})
	case *syntax.Slice:
		parts, ok := c.constants([]syntax.Expr{orNone(n.Start), orNone(n.Stop), orNone(n.Step)}, f)
		if !ok {
			return nil, false
		}
		return &python.Slice{Start: parts[0], Stop: parts[1], Step: parts[2]}, true
	}
	return nil, false
}

func (c *compiler) constants(all []syntax.Expr, f frame) ([]python.Value, bool) {
	values := make([]python.Value, len(all))
	for i, e := range all {
		v, ok := c.constant(e, f)
		if !ok {
			return nil, false
		}
		values[i] = v
	}
	return values, true
}

func (c *compiler) constantDict(n *syntax.Dict, f frame) (python.Value, bool) {
	d := python.NewDict()
	for i := range n.Keys {
		k, ok := c.constant(n.Keys[i], f)
		if !ok {
			return nil, false
		}
		v, ok := c.constant(n.Values[i], f)
		if !ok {
			return nil, false
		}
		d.Set(k, v) // an unhashable key is an error here and now
	}
	return d, true
}

func (c *compiler) constantBinary(n *syntax.Binary, f frame) (python.Value, bool) {
	if op, ok := arithmetic[n.Op]; ok {
		return c.attempt(func() (python.Value, bool) {
			left, ok := c.constant(n.Left, f)
			if !ok {
				return nil, false
			}
			right, ok := c.constant(n.Right, f)
			if !ok {
				return nil, false
			}
			return op(c.fold, left, right), true
		})
	}
	left, ok := c.constant(n.Left, f)
	if !ok || python.Truth(c.fold, left) == (n.Op == "or") {
		return left, ok
	}
	return c.constant(n.Right, f)
}

func (c *compiler) constantUnary(n *syntax.Unary, f frame) (python.Value, bool) {
	v, ok := c.constant(n.Operand, f)
	if !ok {
		return nil, false
	}
	switch n.Op {
	case "not":
		return !python.Truth(c.fold, v), true
	case "-":
		return python.Neg(c.fold, v), true
	}
	return python.Pos(c.fold, v), true
}

func (c *compiler) constantCompare(n *syntax.Compare, f frame) (python.Value, bool) {
	left, ok := c.constant(n.First, f)
	if !ok {
		return nil, false
	}
	return c.attempt(func() (python.Value, bool) {
		for i, e := range n.Rest {
			right, ok := c.constant(e, f)
			if !ok {
				return nil, false
			}
			if !compared(c.fold, n.Ops[i], left, right) {
				return false, true
			}
			left = right
		}
		return true, true
	})
}

// constantApply applies a filter or a test to constants.
func (c *compiler) constantApply(operand syntax.Expr, n syntax.Args, f frame, apply func(python.Value, python.Args) python.Value) (python.Value, bool) {
	pos, ok := c.constants(n.Pos, f)
	if !ok {
		return nil, false
	}
	named, ok := c.constants(n.Named, f)
	if !ok || n.Star != nil || n.StarStar != nil {
		return nil, false
	}
	v, ok := c.constant(operand, f)
	if !ok {
		return nil, false
	}
	return c.attempt(func() (python.Value, bool) {
		args := python.Args{Pos: pos}
		for i, name := range n.Names {
			args = args.With(name, named[i])
		}
		return apply(v, args), true
	})
}

// attempt runs a part of folding whose errors wait for the render.
func (c *compiler) attempt(f func() (python.Value, bool)) (v python.Value, ok bool) {
	if err := python.Catch(func() { v, ok = f() }); err != nil {
		c.fold.Frames = foldFrames
		return nil, false
	}
	return v, ok
}

// limited runs a part of folding whose errors count at once, except for our own
// limits.
func (c *compiler) limited(f func() (python.Value, bool)) (v python.Value, ok bool) {
	err := python.Catch(func() { v, ok = f() })
	if err == nil {
		return v, ok
	}
	if err.Class != python.LimitError {
		panic(err)
	}
	c.fold.Frames = foldFrames
	return nil, false
}
