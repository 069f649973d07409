package jinja

import (
	"github.com/interlock-harness/interlock/providers/prompt/jinja/internal/python"
	"github.com/interlock-harness/interlock/providers/prompt/jinja/internal/syntax"
)

// CPython refuses code that is nested too deeply, and so a template whose
// generated code would be. Source: measured on CPython 3.11.
const (
	maxBrackets = 200 // open brackets in one expression
	maxIndent   = 99  // levels of indented blocks, the function's own included
	maxLoops    = 20  // for statements in one function
)

// indented returns f one level of generated blocks deeper.
func (f frame) indented(levels int) frame {
	if f.indent += levels; f.indent > maxIndent {
		python.Raise("IndentationError", "too many levels of indentation")
	}
	return f
}

// checkBrackets refuses an expression whose generated code opens too many
// brackets.
func (c *compiler) checkBrackets(e syntax.Expr, f frame) {
	if f.brackets+brackets(e, f) > maxBrackets {
		python.Raise("SyntaxError", "too many nested parentheses")
	}
}

// brackets returns how many brackets the code for e opens at its deepest.
func brackets(e syntax.Expr, f frame) int {
	switch n := e.(type) {
	case *syntax.Const:
		return literalBrackets(n.Value)
	case *syntax.Name:
		if s := f.scope.find(n.Name); s != nil && s.vars[n.Name].load == loadParameter && !f.defaults {
			return 0
		}
		return 2 // (undefined(...) if it is missing else it)
	case *syntax.Tuple:
		return 1 + deepest(n.Items, f)
	case *syntax.List:
		return 1 + deepest(n.Items, f)
	case *syntax.Dict:
		return 1 + max(deepest(n.Keys, f), deepest(n.Values, f))
	case *syntax.Conditional:
		return 1 + deepest([]syntax.Expr{n.Test, n.Then, n.Else}, f)
	case *syntax.Binary:
		return 1 + max(brackets(n.Left, f), brackets(n.Right, f))
	case *syntax.Unary:
		return 1 + brackets(n.Operand, f)
	case *syntax.Concat:
		return 2 + deepest(n.Items, f)
	case *syntax.Compare:
		return 1 + max(brackets(n.First, f), deepest(n.Rest, f))
	case *syntax.Filter:
		return 1 + max(brackets(n.Operand, f), argBrackets(n.Args, f))
	case *syntax.Test:
		return 1 + max(brackets(n.Operand, f), argBrackets(n.Args, f))
	case *syntax.Call:
		return 1 + max(brackets(n.Callee, f), argBrackets(n.Args, f))
	case *syntax.GetAttr:
		return 1 + brackets(n.Operand, f)
	case *syntax.GetItem:
		if s, ok := n.Key.(*syntax.Slice); ok {
			return max(brackets(n.Operand, f), 1+deepest([]syntax.Expr{s.Start, s.Stop, s.Step}, f))
		}
		return 1 + max(brackets(n.Operand, f), brackets(n.Key, f))
	}
	return 0
}

func deepest(all []syntax.Expr, f frame) int {
	depth := 0
	for _, e := range all {
		depth = max(depth, brackets(e, f))
	}
	return depth
}

func argBrackets(a syntax.Args, f frame) int {
	return max(deepest(a.Pos, f), deepest(a.Named, f), brackets(a.Star, f), brackets(a.StarStar, f))
}

// literalBrackets is brackets of a folded constant.
func literalBrackets(v python.Value) int {
	depth := 0
	switch x := v.(type) {
	case *python.List:
		for _, item := range x.Items {
			depth = max(depth, literalBrackets(item))
		}
		return depth + 1
	case *python.Tuple:
		for _, item := range x.Items {
			depth = max(depth, literalBrackets(item))
		}
		return depth + 1
	case *python.Dict:
		for i := range x.Len() {
			k, value := x.At(i)
			depth = max(depth, literalBrackets(k), literalBrackets(value))
		}
		return depth + 1
	}
	return 0
}
