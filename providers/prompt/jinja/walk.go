package jinja

import "github.com/interlock-harness/interlock/providers/prompt/jinja/internal/syntax"

// walk calls read with each name that e reads, in the order in which Jinja
// visits them, until read returns false; it returns the last answer.
func walk(e syntax.Expr, read func(name string) bool) bool {
	switch n := e.(type) {
	case *syntax.Name:
		return read(n.Name)
	case *syntax.Tuple:
		return walkAll(n.Items, read)
	case *syntax.List:
		return walkAll(n.Items, read)
	case *syntax.Dict:
		for i := range n.Keys {
			if !walk(n.Keys[i], read) || !walk(n.Values[i], read) {
				return false
			}
		}
	case *syntax.Conditional:
		return walk(n.Test, read) && walk(n.Then, read) && walk(n.Else, read)
	case *syntax.Binary:
		return walk(n.Left, read) && walk(n.Right, read)
	case *syntax.Unary:
		return walk(n.Operand, read)
	case *syntax.Concat:
		return walkAll(n.Items, read)
	case *syntax.Compare:
		return walk(n.First, read) && walkAll(n.Rest, read)
	case *syntax.Filter:
		return walk(n.Operand, read) && walkArgs(n.Args, read)
	case *syntax.Test:
		return walk(n.Operand, read) && walkArgs(n.Args, read)
	case *syntax.Call:
		return walk(n.Callee, read) && walkArgs(n.Args, read)
	case *syntax.GetAttr:
		return walk(n.Operand, read)
	case *syntax.GetItem:
		return walk(n.Operand, read) && walk(n.Key, read)
	case *syntax.Slice:
		return walk(n.Start, read) && walk(n.Stop, read) && walk(n.Step, read)
	}
	return true
}

func walkAll(all []syntax.Expr, read func(string) bool) bool {
	for _, e := range all {
		if !walk(e, read) {
			return false
		}
	}
	return true
}

func walkArgs(a syntax.Args, read func(string) bool) bool {
	return walkAll(a.Pos, read) && walkAll(a.Named, read) && walk(a.Star, read) && walk(a.StarStar, read)
}

// undeclared finds which of some special names a body reads before it sets
// them: loop, caller, varargs, kwargs, self, super.
type undeclared struct {
	names map[string]bool // still looked for
	found map[string]bool
}

// readsUndeclared returns which of names body reads without setting them
// first. Inner blocks count, named blocks do not.
func readsUndeclared(body []syntax.Stmt, names ...string) map[string]bool {
	u := &undeclared{names: map[string]bool{}, found: map[string]bool{}}
	for _, n := range names {
		u.names[n] = true
	}
	u.body(body)
	return u.found
}

// read returns false when everything was found.
func (u *undeclared) read(name string) bool {
	if u.names[name] {
		u.found[name] = true
	}
	return len(u.found) < len(u.names)
}

func (u *undeclared) body(body []syntax.Stmt) bool {
	for _, s := range body {
		if !u.statement(s) {
			return false
		}
	}
	return true
}

func (u *undeclared) expr(e syntax.Expr) bool { return walk(e, u.read) }

func (u *undeclared) exprs(all []syntax.Expr) bool { return walkAll(all, u.read) }

func (u *undeclared) store(e syntax.Expr) bool {
	switch n := e.(type) {
	case *syntax.Name:
		if !u.found[n.Name] {
			delete(u.names, n.Name)
		}
	case *syntax.Tuple:
		for _, item := range n.Items {
			u.store(item)
		}
	}
	return true
}

func (u *undeclared) signature(s syntax.Signature) bool {
	for _, p := range s.Params {
		if !u.found[p] {
			delete(u.names, p)
		}
	}
	return u.exprs(s.Defaults)
}

func (u *undeclared) statement(s syntax.Stmt) bool {
	switch n := s.(type) {
	case *syntax.Output:
		return u.exprs(n.Parts)
	case *syntax.For:
		return u.store(n.Target) && u.expr(n.Iter) && u.body(n.Body) && u.body(n.Else) && u.expr(n.Test)
	case *syntax.If:
		if !u.expr(n.Test) || !u.body(n.Body) {
			return false
		}
		for _, elif := range n.Elifs {
			if !u.statement(elif) {
				return false
			}
		}
		return u.body(n.Else)
	case *syntax.Macro:
		return u.signature(n.Signature) && u.body(n.Body)
	case *syntax.CallBlock:
		return u.expr(n.Call) && u.signature(n.Signature) && u.body(n.Body)
	case *syntax.FilterBlock:
		return u.body(n.Body) && u.expr(n.Filter)
	case *syntax.With:
		for _, target := range n.Targets {
			u.store(target)
		}
		return u.exprs(n.Values) && u.body(n.Body)
	case *syntax.Autoescape:
		return u.expr(n.Value) && u.body(n.Body)
	case *syntax.Load:
		return u.expr(n.Template)
	case *syntax.Assign:
		return u.store(n.Target) && u.expr(n.Value)
	case *syntax.AssignBlock:
		u.store(n.Target)
		return (n.Filter == nil || u.expr(n.Filter)) && u.body(n.Body)
	}
	return true
}

// eachStatement calls visit with s and every statement inside it.
func eachStatement(s syntax.Stmt, visit func(syntax.Stmt)) {
	visit(s)
	all := func(body []syntax.Stmt) {
		for _, s := range body {
			eachStatement(s, visit)
		}
	}
	switch n := s.(type) {
	case *syntax.For:
		all(n.Body)
		all(n.Else)
	case *syntax.If:
		all(n.Body)
		for _, elif := range n.Elifs {
			eachStatement(elif, visit)
		}
		all(n.Else)
	case *syntax.Macro:
		all(n.Body)
	case *syntax.CallBlock:
		all(n.Body)
	case *syntax.FilterBlock:
		all(n.Body)
	case *syntax.With:
		all(n.Body)
	case *syntax.Autoescape:
		all(n.Body)
	case *syntax.Block:
		all(n.Body)
	case *syntax.AssignBlock:
		all(n.Body)
	}
}
