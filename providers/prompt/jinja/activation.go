package jinja

import "github.com/interlock-harness/interlock/providers/prompt/jinja/internal/python"

// function is what Jinja would compile into one Python function: the template,
// a macro, a named block, the body of a recursive loop, the filter of a loop.
// Its variables live in numbered slots.
type function struct {
	parent *function
	slots  map[slotKey]int
	loops  int // for statements around the current place; break needs one
}

// slotKey tells variables apart as the generated names l_<level>_<name> do:
// two blocks side by side share theirs.
type slotKey struct {
	level int
	name  string
}

func newFunction(parent *function) *function {
	return &function{parent: parent, slots: map[slotKey]int{}}
}

func (f *function) slot(s *scope, name string) int {
	key := slotKey{s.level, name}
	i, ok := f.slots[key]
	if !ok {
		i = len(f.slots)
		f.slots[key] = i
	}
	return i
}

// activation is one run of a function.
type activation struct {
	slots  []python.Value
	up     *activation // of the function around this one
	t      *python.Thread
	ctx    *context
	out    *python.Buffer // where text goes now
	caller python.Value   // of the call block that is about to call
}

func (f *function) start(up *activation, t *python.Thread, ctx *context) *activation {
	a := &activation{slots: make([]python.Value, len(f.slots)), up: up, t: t, ctx: ctx, out: python.NewBuffer(t)}
	for i := range a.slots {
		a.slots[i] = python.Missing
	}
	return a
}

// place is where a variable lives: in the activation that is up functions out.
type place struct{ up, slot int }

func (p place) get(a *activation) python.Value {
	for range p.up {
		a = a.up
	}
	return a.slots[p.slot]
}

// signal says how a statement ended.
type signal byte

const (
	goOn signal = iota
	breakLoop
	continueLoop
)

type (
	// expr is a compiled expression.
	expr func(*activation) python.Value
	// stmt is a compiled statement.
	stmt func(*activation) signal
)

// sequence runs statements one after the other.
func sequence(all []stmt) stmt {
	switch len(all) {
	case 0:
		return func(*activation) signal { return goOn }
	case 1:
		return all[0]
	}
	return func(a *activation) signal {
		for _, s := range all {
			if end := s(a); end != goOn {
				return end
			}
		}
		return goOn
	}
}

// context is what names resolve to that no scope holds: variables set at the
// top level (they matter to named blocks only), then what the caller of Render
// passed, then the globals.
type context struct {
	set    map[string]python.Value
	vars   *python.Dict
	locals map[string]python.Value // of a scoped block
	outer  *context                // of a scoped block
	blocks map[string]*blockCode
}

func (c *context) resolve(name string) python.Value {
	for ; c != nil; c = c.outer {
		if v, ok := c.set[name]; ok {
			return v
		}
		if v, ok := c.locals[name]; ok {
			return v
		}
		if c.outer == nil {
			if v, ok := c.vars.Lookup(name); ok {
				return v
			}
		}
	}
	if v, ok := globals[name]; ok {
		return v
	}
	return python.Missing
}
