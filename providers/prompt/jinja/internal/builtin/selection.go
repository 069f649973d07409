package builtin

import "github.com/interlock-harness/interlock/providers/prompt/jinja/internal/python"

// attr is obj.name without looking at items.
func attr(t *python.Thread, v python.Value, a python.Args) python.Value {
	name := a.Bind("do_attr", 1, "name")[0]
	text, ok := python.Text(name)
	if !ok {
		python.Raise(python.TypeError, "attribute name must be string, not '%s'", python.TypeName(name))
	}
	if _, found := python.Attr(t, v, text); !found {
		return python.UndefinedOf(v, name)
	}
	return python.GetAttr(t, v, text)
}

func orDefault(t *python.Thread, v python.Value, a python.Args) python.Value {
	p := a.Bind("do_default", 0, "default_value", "boolean")
	if python.IsUndefined(v) || python.Truth(t, python.Or(p[1], false)) && !python.Truth(t, v) {
		return python.Or(p[0], "")
	}
	return v
}

// mapItems applies a filter to each item, or looks an attribute up in it.
func mapItems(t *python.Thread, v python.Value, a python.Args) python.Value {
	var next python.Iter
	var f func(python.Value) python.Value
	return python.NewGenerator(func() (python.Value, bool) {
		if next == nil {
			if !python.Truth(t, v) {
				return nil, false
			}
			f = mapper(t, a)
			next = python.Iterate(t, v)
		}
		item, ok := next()
		if !ok {
			return nil, false
		}
		return f(item), true
	})
}

func mapper(t *python.Thread, a python.Args) func(python.Value) python.Value {
	if rest, attribute, ok := a.Without("attribute"); ok && len(a.Pos) == 0 {
		rest, otherwise, _ := rest.Without("default")
		if len(rest.Names) > 0 {
			python.Raise(python.FilterArgumentError, "Unexpected keyword argument '%s'", rest.Names[0])
		}
		return attrGetter(t, attribute, otherwise)
	}
	if len(a.Pos) == 0 {
		python.Raise(python.FilterArgumentError, "map requires a filter argument")
	}
	name := a.Pos[0]
	a.Pos = a.Pos[1:]
	return func(item python.Value) python.Value { return callFilter(t, name, item, a) }
}

// selectItems keeps the items that a test accepts (or, without keep, those
// that it refuses), looking at an attribute of each when byAttr is set.
func selectItems(byAttr, keep bool) func(*python.Thread, python.Value, python.Args) python.Value {
	return func(t *python.Thread, v python.Value, a python.Args) python.Value {
		var next python.Iter
		var accept func(python.Value) bool
		return python.NewGenerator(func() (python.Value, bool) {
			if next == nil {
				if !python.Truth(t, v) {
					return nil, false
				}
				accept = acceptor(t, a, byAttr)
				next = python.Iterate(t, v)
			}
			for item, ok := next(); ok; item, ok = next() {
				if accept(item) == keep {
					return item, true
				}
			}
			return nil, false
		})
	}
}

func acceptor(t *python.Thread, a python.Args, byAttr bool) func(python.Value) bool {
	look := func(item python.Value) python.Value { return item }
	if byAttr {
		if len(a.Pos) == 0 {
			python.Raise(python.FilterArgumentError, "Missing parameter for attribute name")
		}
		look = attrGetter(t, a.Pos[0], nil)
		a.Pos = a.Pos[1:]
	}
	if len(a.Pos) == 0 {
		return func(item python.Value) bool { return python.Truth(t, look(item)) }
	}
	name := a.Pos[0]
	a.Pos = a.Pos[1:]
	return func(item python.Value) bool { return python.Truth(t, callTest(t, name, look(item), a)) }
}
