package builtin

import "github.com/interlock-harness/interlock/providers/prompt/jinja/internal/python"

// maxRange is how many items the sandbox lets a range have.
const maxRange = 100_000

// Range is the sandbox's range.
var Range = &python.Function{Kind: "function", Name: "safe_range", Body: func(_ *python.Thread, _ python.Value, a python.Args) python.Value {
	p := a.Plain("range", 1, 3)
	r := &python.Range{Step: 1}
	if len(a.Pos) == 1 {
		r.Stop = python.Size(p[0])
	} else {
		r.Start, r.Stop = python.Size(p[0]), python.Size(p[1])
	}
	if len(a.Pos) == 3 {
		if r.Step = python.Size(p[2]); r.Step == 0 {
			python.Raise(python.ValueError, "range() arg 3 must not be zero")
		}
	}
	if r.Len() > maxRange || r.Len() < 0 {
		python.Raise(python.OverflowError, "Range too big. The sandbox blocks ranges larger than MAX_RANGE (%d).", maxRange)
	}
	return r
}}

// Dict is the type dict.
var Dict = &python.Function{Kind: "type", Name: "dict",
	Body: func(t *python.Thread, _ python.Value, a python.Args) python.Value { return newDict(t, a) },
	Attrs: map[string]python.Value{
		"fromkeys": &python.Function{Kind: "builtin_function_or_method", Name: "fromkeys", Body: python.FromKeys},
	},
}

// newDict is dict(...): of a mapping or of pairs, and of named values.
func newDict(t *python.Thread, a python.Args) *python.Dict {
	if len(a.Pos) > 1 {
		python.Raise(python.TypeError, "dict expected at most 1 argument, got %d", len(a.Pos))
	}
	d := python.NewDict()
	for _, from := range a.Pos {
		switch x := from.(type) {
		case *python.Dict:
			d.Update(x)
		case *python.Undefined:
			x.Fail() // asked for its keys
		default:
			addPairs(t, d, from)
		}
	}
	d.Update(a.Dict())
	return d
}

func addPairs(t *python.Thread, d *python.Dict, from python.Value) {
	next := python.Iterate(t, from)
	i := 0
	for item, ok := next(); ok; item, ok = next() {
		if !python.CanIterate(t, item) {
			python.Raise(python.TypeError, "cannot convert dictionary update sequence element #%d to a sequence", i)
		}
		pair := python.Collect(t, item)
		if len(pair) != 2 {
			python.Raise(python.ValueError, "dictionary update sequence element #%d has length %d; 2 is required", i, len(pair))
		}
		d.Set(pair[0], pair[1])
		i++
	}
}

// Lipsum would be random text.
var Lipsum = &python.Function{Kind: "function", Name: "generate_lorem_ipsum", Body: func(t *python.Thread, _ python.Value, a python.Args) python.Value {
	p := a.Bind("generate_lorem_ipsum", 0, "n", "html", "min", "max")
	if python.Index(python.Or(p[0], 5)) > 0 {
		python.Raise(python.UnsupportedError, "lipsum would make every prompt another one")
	}
	if python.Truth(t, python.Or(p[1], true)) {
		return python.Markup("")
	}
	return ""
}}
