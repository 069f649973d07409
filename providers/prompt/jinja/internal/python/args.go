package python

// Args are the arguments of a call: the positional ones, then the named ones in
// the order in which they were written.
type Args struct {
	Pos   []Value
	Names []string
	Named []Value
}

// Positional returns arguments without names.
func Positional(values ...Value) Args { return Args{Pos: values} }

// missing is what Bind leaves in place of an argument that was not given.
type missing struct{}

// Missing marks an absent value: an argument that was not given, a variable
// that was not set.
var Missing Value = missing{}

// Given says whether v is a value and not Missing.
func Given(v Value) bool {
	_, absent := v.(missing)
	return !absent
}

// Named returns the value of the argument called name, and whether it is there.
func (a Args) named(name string) (Value, bool) {
	for i, n := range a.Names {
		if n == name {
			return a.Named[i], true
		}
	}
	return nil, false
}

// Without returns a without the named argument name.
func (a Args) Without(name string) (rest Args, value Value, ok bool) {
	value, ok = a.named(name)
	if !ok {
		return a, nil, false
	}
	rest.Pos = a.Pos
	for i, n := range a.Names {
		if n != name {
			rest.Names = append(rest.Names, n)
			rest.Named = append(rest.Named, a.Named[i])
		}
	}
	return rest, value, true
}

// With returns a with one more named argument.
func (a Args) With(name string, v Value) Args {
	n := len(a.Names)
	a.Names = append(a.Names[:n:n], name)
	a.Named = append(a.Named[:n:n], v)
	return a
}

// Dict returns the named arguments as a dict.
func (a Args) Dict() *Dict {
	d := NewDict()
	for i, n := range a.Names {
		d.Set(n, a.Named[i])
	}
	return d
}

// Plain returns the positional arguments of a function that takes from least
// to most of them and no named ones, padded with Missing.
func (a Args) Plain(function string, least, most int) []Value {
	if len(a.Names) > 0 {
		Raise(TypeError, "%s() takes no keyword arguments", function)
	}
	n := len(a.Pos)
	switch {
	case n >= least && n <= most:
	case most == 0:
		Raise(TypeError, "%s() takes no arguments (%d given)", function, n)
	case least == most && most == 1:
		Raise(TypeError, "%s() takes exactly one argument (%d given)", function, n)
	case n < least:
		Raise(TypeError, "%s expected at least %d argument%s, got %d", function, least, plural(least), n)
	default:
		Raise(TypeError, "%s expected at most %d argument%s, got %d", function, most, plural(most), n)
	}
	return pad(a.Pos, most)
}

func pad(values []Value, n int) []Value {
	if len(values) == n {
		return values
	}
	padded := make([]Value, n)
	copy(padded, values)
	for i := len(values); i < n; i++ {
		padded[i] = Missing
	}
	return padded
}

func plural(n int) string {
	if n == 1 {
		return ""
	}
	return "s"
}

// Bind returns the arguments of a function with the named parameters params,
// of which the first required must be given; the others are Missing when
// absent.
func (a Args) Bind(function string, required int, params ...string) []Value {
	if len(a.Pos) > len(params) {
		Raise(TypeError, "%s() takes %d positional argument%s but %d were given", function, len(params), plural(len(params)), len(a.Pos))
	}
	if len(a.Names) == 0 && len(a.Pos) == len(params) {
		return a.Pos
	}
	bound := pad(a.Pos, len(params))
	if len(a.Names) > 0 && len(a.Pos) == len(params) {
		bound = append([]Value(nil), a.Pos...)
	}
	for i, n := range a.Names {
		at := indexOf(params, n)
		if at < 0 {
			Raise(TypeError, "%s() got an unexpected keyword argument '%s'", function, n)
		}
		if Given(bound[at]) {
			Raise(TypeError, "%s() got multiple values for argument '%s'", function, n)
		}
		bound[at] = a.Named[i]
	}
	for i := range required {
		if !Given(bound[i]) {
			Raise(TypeError, "%s() missing 1 required positional argument: '%s'", function, params[i])
		}
	}
	return bound
}

func indexOf(names []string, name string) int {
	for i, n := range names {
		if n == name {
			return i
		}
	}
	return -1
}

// Or returns v, or otherwise where v is Missing.
func Or(v, otherwise Value) Value {
	if Given(v) {
		return v
	}
	return otherwise
}
