package python

// Function is anything callable that is not an Object: a global, a bound
// method, or a type such as dict.
type Function struct {
	Kind  string // type(f).__name__: "function", "builtin_function_or_method", "type"
	Name  string
	Self  Value // of a bound method
	Body  func(t *Thread, self Value, a Args) Value
	Attrs map[string]Value // of a type, such as dict.fromkeys
}

// Call calls f.
func (f *Function) Call(t *Thread, a Args) Value { return f.Body(t, f.Self, a) }

func (f *Function) repr() string {
	switch f.Kind {
	case "type":
		return "<class '" + f.Name + "'>"
	case "function":
		return Address("function " + f.Name)
	}
	return Address("method " + f.Name + " of " + TypeName(f.Self))
}

// Address refuses to print what shows where it lies in memory: the text would
// be another one in every render, and proof of nothing.
func Address(what string) string {
	Raise(UnsupportedError, "printing a %s would show an address in memory", what)
	return ""
}

// method is one method of a built-in type.
type method func(t *Thread, self Value, a Args) Value

func bind(m method, self Value, name string) *Function {
	return &Function{Kind: "builtin_function_or_method", Name: name, Self: self, Body: m}
}

// Call returns f(*a). Like Jinja's sandbox it asks f first whether calling it
// is safe, which makes an undefined f raise.
func Call(t *Thread, f Value, a Args) Value {
	switch x := f.(type) {
	case *Function:
		return x.Call(t, a)
	case Callable:
		return x.Call(t, a)
	}
	mustDefined(f)
	Raise(TypeError, "'%s' object is not callable", TypeName(f))
	return nil
}

// IsCallable returns callable(v).
func IsCallable(v Value) bool {
	switch v.(type) {
	case *Function, Callable, *Undefined:
		return true
	}
	return false
}

// NewMethod returns a method of an Object.
func NewMethod(self Value, name string, body func(t *Thread, a Args) Value) *Function {
	return &Function{Kind: "method", Name: name, Self: self, Body: func(t *Thread, _ Value, a Args) Value { return body(t, a) }}
}

// CallMethod calls a method of a built-in type, as o.name(*values).
func CallMethod(t *Thread, o Value, name string, values ...Value) Value {
	f, ok := Attr(t, o, name)
	if !ok {
		Raise("AttributeError", "'%s' object has no attribute '%s'", TypeName(o), name)
	}
	return Call(t, f, Positional(values...))
}
