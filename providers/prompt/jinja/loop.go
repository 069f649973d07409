package jinja

import (
	"github.com/interlock-harness/interlock/providers/prompt/jinja/internal/python"
	"github.com/interlock-harness/interlock/providers/prompt/jinja/internal/syntax"
)

// forLoop compiles a loop. Whether its body reads the name loop decides
// whether there is a loop object; a recursive loop is a function of its own.
func (c *compiler) forLoop(n *syntax.For, f frame) stmt {
	in := f.inner()
	if n.Recursive {
		in = f.inFunction()
		in.buffered = true
	}
	extended := n.Recursive || readsUndeclared(n.Body, "loop")["loop"] || scopedBlock(n)
	if extended {
		in.scope.parameter("loop")
	}
	in.scope.target(n.Target, true)
	in.scope.collect(n.Body)
	if assignsLoop(n) {
		assertion(n.Line(), "Can't assign to special loop variable in for-loop target")
	}
	l := &loopCode{recursive: n.Recursive}
	if n.Test != nil {
		l.filter = c.loopFilter(n, f)
	}
	_, l.assign = c.target(n.Target, in)
	if extended {
		slot := in.fn.slot(in.scope, "loop")
		l.loop = func(a *activation, v python.Value) { a.slots[slot] = v }
	}
	l.iter = c.expr(n.Iter, f)
	if in.fn.loops++; in.fn.loops > maxLoops {
		python.Raise("SyntaxError", "too many statically nested blocks")
	}
	l.enter, l.body, l.leave = in.enter(), c.body(n.Body, in.indented(1)), in.leave()
	in.fn.loops--
	if n.Else != nil {
		l.otherwise = c.loopElse(n, f, in)
	}
	if n.Recursive {
		l.fn = in.fn
		if n.Else == nil {
			l.leave = func(*activation) {}
		}
	}
	return l.run
}

// loopElse compiles the else part, which has its own scope.
func (c *compiler) loopElse(n *syntax.For, f, in frame) stmt {
	other := f.inner()
	if n.Recursive {
		other.fn, other.scope.fn, other.indent, other.buffered = in.fn, in.fn, in.indent, true
	}
	other.scope.collect(n.Else)
	enter, body, leave := other.enter(), c.body(n.Else, other.indented(1)), other.leave()
	return func(a *activation) signal {
		enter(a)
		end := body(a)
		if end == goOn {
			leave(a)
		}
		return end
	}
}

// loopFilter compiles "if test" of a loop: a generator with its own variables,
// which yields the target as it was assigned.
func (c *compiler) loopFilter(n *syntax.For, f frame) func(*activation, python.Value) python.Value {
	in := f.inFunction()
	in.scope.target(n.Target, true)
	in.scope.expr(n.Test)
	_, assign := c.target(n.Target, in)
	enter, test, yield := in.enter(), c.expr(n.Test, in.indented(1)), c.targetValue(n.Target, in)
	fn := in.fn
	return func(outer *activation, source python.Value) python.Value {
		a := fn.start(outer, outer.t, outer.ctx)
		var next python.Iter
		return python.NewGenerator(func() (python.Value, bool) {
			if next == nil {
				enter(a)
				next = python.Iterate(a.t, source)
			}
			for v, ok := next(); ok; v, ok = next() {
				assign(a, v)
				if python.Truth(a.t, test(a)) {
					return yield(a), true
				}
			}
			return nil, false
		})
	}
}

// targetValue reads back what was assigned to a loop's target.
func (c *compiler) targetValue(e syntax.Expr, f frame) expr {
	if n, ok := e.(*syntax.Name); ok {
		p := f.place(n.Name)
		return p.get
	}
	var items []expr
	for _, item := range e.(*syntax.Tuple).Items {
		items = append(items, c.targetValue(item, f))
	}
	return func(a *activation) python.Value { return &python.Tuple{Items: evaluate(a, items)} }
}

func scopedBlock(s syntax.Stmt) bool {
	found := false
	eachStatement(s, func(s syntax.Stmt) {
		if b, ok := s.(*syntax.Block); ok && b.Scoped {
			found = true
		}
	})
	return found
}

// assignsLoop says whether a loop, its body included, sets the name loop.
func assignsLoop(n *syntax.For) bool {
	found := setsName(n.Target, "loop")
	for _, part := range [][]syntax.Stmt{n.Body, n.Else} {
		for _, s := range part {
			eachStatement(s, func(s syntax.Stmt) {
				switch s := s.(type) {
				case *syntax.Assign:
					found = found || setsName(s.Target, "loop")
				case *syntax.AssignBlock:
					found = found || setsName(s.Target, "loop")
				case *syntax.For:
					found = found || setsName(s.Target, "loop")
				}
			})
		}
	}
	return found
}

func setsName(e syntax.Expr, name string) bool {
	switch n := e.(type) {
	case *syntax.Name:
		return n.Name == name
	case *syntax.Tuple:
		for _, item := range n.Items {
			if setsName(item, name) {
				return true
			}
		}
	}
	return false
}

// loopCode is a compiled loop.
type loopCode struct {
	iter      expr
	filter    func(*activation, python.Value) python.Value
	assign    func(*activation, python.Value)
	loop      func(*activation, python.Value) // stores the loop object; nil when it is not read
	enter     func(*activation)
	leave     func(*activation)
	body      stmt
	otherwise stmt // nil when there is no else
	recursive bool
	fn        *function // of a recursive loop
}

func (l *loopCode) run(a *activation) signal {
	a.t.Step()
	source := l.iter(a)
	if !l.recursive {
		return l.over(a, source, nil, 0)
	}
	a.out.WriteString(own(l.recurse(a, source, 0)))
	return goOn
}

func own(v python.Value) string {
	s, _ := python.Text(v)
	return s
}

// recurse runs a recursive loop over source and returns its text.
func (l *loopCode) recurse(outer *activation, source python.Value, depth int) python.Value {
	outer.t.Enter(recursionFrames)
	defer outer.t.Leave(recursionFrames)
	a := l.fn.start(outer, outer.t, outer.ctx)
	l.over(a, source, func(inner python.Value, depth int) python.Value { return l.recurse(outer, inner, depth) }, depth)
	return marked(a, a.out.Joined())
}

func (l *loopCode) over(a *activation, source python.Value, recurse func(python.Value, int) python.Value, depth int) signal {
	if l.filter != nil {
		around := a // the filter stands beside the loop's function, not inside it
		if l.recursive {
			around = a.up
		}
		source = l.filter(around, source)
	}
	var object *loopObject
	var next python.Iter
	if l.loop != nil {
		object = newLoopObject(a.t, source, recurse, depth)
		next = object.next
	} else {
		next = python.Iterate(a.t, source)
	}
	finished := false // one pass came to its end: a break or continue does not count
	for item, ok := next(); ok; item, ok = next() {
		a.t.Step()
		l.assign(a, item)
		if object != nil {
			l.loop(a, object)
		}
		l.enter(a)
		end := l.body(a)
		if end == breakLoop {
			break
		}
		finished = finished || end == goOn
	}
	l.leave(a)
	if l.otherwise != nil && !finished {
		return l.otherwise(a)
	}
	return goOn
}
