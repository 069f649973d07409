package jinja

import (
	"fmt"

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

// loopObject is the name loop inside a loop.
type loopObject struct {
	t        *python.Thread
	iterable python.Value
	source   python.Iter
	index0   int
	length   int // -1 while it is not known
	after    python.Value
	current  python.Value
	before   python.Value
	changed  python.Value // the last arguments of loop.changed
	recurse  func(python.Value, int) python.Value
	depth0   int
}

func newLoopObject(t *python.Thread, iterable python.Value, recurse func(python.Value, int) python.Value, depth int) *loopObject {
	return &loopObject{t: t, iterable: iterable, source: python.Iterate(t, iterable), index0: -1, length: -1, after: python.Missing,
		current: python.Missing, before: python.Missing, changed: python.Missing, recurse: recurse, depth0: depth}
}

func (l *loopObject) next() (python.Value, bool) {
	v := l.after
	if python.Given(v) {
		l.after = python.Missing
	} else {
		var ok bool
		if v, ok = l.source(); !ok {
			return nil, false
		}
	}
	l.index0++
	l.before, l.current = l.current, v
	return v, true
}

// peek returns the item behind the current one, or Missing.
func (l *loopObject) peek() python.Value {
	if !python.Given(l.after) {
		if v, ok := l.source(); ok {
			l.after = v
		}
	}
	return l.after
}

// size returns the number of items; what has no length is read to its end.
func (l *loopObject) size() int {
	if l.length >= 0 {
		return l.length
	}
	n, ok := python.Len(l.t, l.iterable)
	if !ok {
		rest := python.Collect(l.t, python.NewGenerator(l.source))
		l.source = python.Iterate(l.t, python.NewList(rest...))
		n = len(rest) + l.index0 + 1
		if python.Given(l.after) {
			n++
		}
	}
	l.length = n
	return n
}

// Type is part of python.Object, as are Module, Attr and Repr.
func (l *loopObject) Type() string { return "LoopContext" }

// Module is Jinja's runtime.
func (l *loopObject) Module() string { return "jinja2.runtime" }

// Len makes loop|length work.
func (l *loopObject) Len(*python.Thread) int { return l.size() }

// Iterate yields pairs of item and loop, and moves the loop on.
func (l *loopObject) Iterate(*python.Thread) python.Iter {
	return func() (python.Value, bool) {
		v, ok := l.next()
		return python.NewTuple(v, l), ok
	}
}

// Call renders a recursive loop one level deeper.
func (l *loopObject) Call(t *python.Thread, a python.Args) python.Value {
	iterable := a.Bind("LoopContext.__call__", 1, "iterable")[0]
	if l.recurse == nil {
		python.Raise(python.TypeError, "The loop must have the 'recursive' marker to be called recursively.")
	}
	return l.recurse(iterable, l.depth0+1)
}

// Repr shows how far the loop is.
func (l *loopObject) Repr(*python.Thread) string {
	return fmt.Sprintf("<LoopContext %d/%d>", l.index0+1, l.size())
}

// Attr returns what the loop knows about itself.
func (l *loopObject) Attr(_ *python.Thread, name string) (python.Value, bool) {
	switch name {
	case "index":
		return l.index0 + 1, true
	case "index0":
		return l.index0, true
	case "revindex":
		return l.size() - l.index0, true
	case "revindex0":
		return l.size() - l.index0 - 1, true
	case "length":
		return l.size(), true
	case "first":
		return l.index0 == 0, true
	case "last":
		return !python.Given(l.peek()), true
	case "depth":
		return l.depth0 + 1, true
	case "depth0":
		return l.depth0, true
	case "previtem":
		if l.index0 == 0 {
			return python.UndefinedHint("there is no previous item"), true
		}
		return l.before, true
	case "nextitem":
		if v := l.peek(); python.Given(v) {
			return v, true
		}
		return python.UndefinedHint("there is no next item"), true
	case "cycle":
		return python.NewMethod(l, name, l.cycle), true
	case "changed":
		return python.NewMethod(l, name, l.hasChanged), true
	}
	return nil, false
}

func (l *loopObject) cycle(_ *python.Thread, a python.Args) python.Value {
	a.Plain("LoopContext.cycle", 0, len(a.Pos))
	if len(a.Pos) == 0 {
		python.Raise(python.TypeError, "no items for cycling given")
	}
	return a.Pos[l.index0%len(a.Pos)]
}

func (l *loopObject) hasChanged(t *python.Thread, a python.Args) python.Value {
	a.Plain("LoopContext.changed", 0, len(a.Pos))
	now := python.NewTuple(a.Pos...)
	if python.Given(l.changed) && python.Equal(t, l.changed, now) {
		return false
	}
	l.changed = now
	return true
}
