package jinja

import (
	"fmt"

	"github.com/interlock-harness/interlock/providers/prompt/jinja/internal/python"
)

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
