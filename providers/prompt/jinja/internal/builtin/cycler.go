package builtin

import (
	"github.com/interlock-harness/interlock/providers/prompt/jinja/internal/python"
)

// NewCycler is the type cycler.
var NewCycler = &python.Function{Kind: "type", Name: "jinja2.utils.Cycler", Body: func(_ *python.Thread, _ python.Value, a python.Args) python.Value {
	a.Plain("Cycler.__init__", 0, len(a.Pos))
	if len(a.Pos) == 0 {
		python.Raise("RuntimeError", "at least one item has to be provided")
	}
	return &cycler{items: python.NewTuple(a.Pos...)}
}}

// cycler hands out its items in turn.
type cycler struct {
	items *python.Tuple
	pos   int
}

// Type is part of python.Object, as are Module, Attr and Repr.
func (c *cycler) Type() string { return "Cycler" }

// Module is Jinja's utilities.
func (c *cycler) Module() string { return "jinja2.utils" }

// Repr would be Python's default, with an address.
func (c *cycler) Repr(*python.Thread) string {
	return python.Address("cycler")
}

// Attr returns the current item and the methods next and reset.
func (c *cycler) Attr(_ *python.Thread, name string) (python.Value, bool) {
	switch name {
	case "items":
		return c.items, true
	case "pos":
		return c.pos, true
	case "current":
		return c.items.Items[c.pos], true
	case "next":
		return python.NewMethod(c, name, func(_ *python.Thread, a python.Args) python.Value {
			a.Bind("Cycler.next", 0)
			v := c.items.Items[c.pos]
			c.pos = (c.pos + 1) % len(c.items.Items)
			return v
		}), true
	case "reset":
		return python.NewMethod(c, name, func(_ *python.Thread, a python.Args) python.Value {
			a.Bind("Cycler.reset", 0)
			c.pos = 0
			return nil
		}), true
	}
	return nil, false
}

// NewJoiner is the type joiner.
var NewJoiner = &python.Function{Kind: "type", Name: "jinja2.utils.Joiner", Body: func(_ *python.Thread, _ python.Value, a python.Args) python.Value {
	return &joiner{sep: python.Or(a.Bind("Joiner.__init__", 0, "sep")[0], ", ")}
}}

// joiner is nothing when it is called first, and its separator from then on.
type joiner struct {
	sep  python.Value
	used bool
}

// Type is part of python.Object, as are Module, Attr and Repr.
func (j *joiner) Type() string { return "Joiner" }

// Module is Jinja's utilities.
func (j *joiner) Module() string { return "jinja2.utils" }

// Repr would be Python's default, with an address.
func (j *joiner) Repr(*python.Thread) string {
	return python.Address("joiner")
}

// Attr returns what the joiner holds.
func (j *joiner) Attr(_ *python.Thread, name string) (python.Value, bool) {
	switch name {
	case "sep":
		return j.sep, true
	case "used":
		return j.used, true
	}
	return nil, false
}

// Call returns nothing once, then the separator.
func (j *joiner) Call(_ *python.Thread, a python.Args) python.Value {
	a.Bind("Joiner.__call__", 0)
	if !j.used {
		j.used = true
		return ""
	}
	return j.sep
}
