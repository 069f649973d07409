package python

import "math/big"

// Value is any value of a template; see the package comment.
type Value = any

// Markup is text that is marked as safe HTML (MarkupSafe): a str whose methods
// escape what is added to it.
type Markup string

// Bytes is what str.encode returns.
type Bytes string

// List is a mutable sequence. Only two of its methods that change it pass
// Jinja's sandbox: pop and clear.
type List struct {
	Items  []Value
	frozen bool // belongs to the caller of Render and must not change
}

// Tuple is an immutable sequence. Fields names its items for the groups of
// the groupby filter, and is nil otherwise.
type Tuple struct {
	Items  []Value
	Fields []string
}

// Slice is the argument of value[start:stop:step].
type Slice struct{ Start, Stop, Step Value }

// Object is a value with attributes of its own kind.
type Object interface {
	Type() string                              // as in type(x).__name__
	Module() string                            // as in type(x).__module__
	Attr(t *Thread, name string) (Value, bool) // getattr; false is AttributeError
	Repr(t *Thread) string                     // repr
}

// Callable is an Object that can be called.
type Callable interface {
	Call(t *Thread, a Args) Value
}

// Iterable is an Object that for loops accept.
type Iterable interface {
	Iterate(t *Thread) Iter
}

// Sized is an Object with a length.
type Sized interface {
	Len(t *Thread) int
}

// Indexed is an Object that obj[key] accepts; false is a LookupError.
type Indexed interface {
	Index(t *Thread, key Value) (Value, bool)
}

// NewList returns a list of items, which it keeps. The list counts as the
// caller's: a template that changes it changes a copy.
func NewList(items ...Value) *List { return &List{Items: items, frozen: true} }

// NewTuple returns a tuple of items, which it keeps.
func NewTuple(items ...Value) *Tuple { return &Tuple{Items: items} }

// TypeName returns type(v).__name__.
func TypeName(v Value) string {
	switch x := v.(type) {
	case nil:
		return "NoneType"
	case bool:
		return "bool"
	case int, *big.Int:
		return "int"
	case float64:
		return "float"
	case string:
		return "str"
	case Markup:
		return "Markup"
	case Bytes:
		return "bytes"
	case *List:
		return "list"
	case *Tuple:
		if x.Fields != nil {
			return "_GroupTuple"
		}
		return "tuple"
	case *Dict:
		return "dict"
	case *Range:
		return "range"
	case *View:
		return "dict_" + string(x.Kind)
	case *Iterator:
		return x.Kind
	case *Slice:
		return "slice"
	case *Function:
		return x.Kind
	case *Undefined:
		return "Undefined"
	case missing:
		return "MissingType"
	case Object:
		return x.Type()
	}
	return "object"
}

// moduleOf returns type(v).__module__.
func moduleOf(v Value) string {
	switch x := v.(type) {
	case Markup:
		return "markupsafe"
	case *Undefined:
		return "jinja2.runtime"
	case *Tuple:
		if x.Fields != nil {
			return "jinja2.filters"
		}
	case Object:
		return x.Module()
	}
	return "builtins"
}

// Text returns the characters of a str, marked as safe or not.
func Text(v Value) (string, bool) {
	switch x := v.(type) {
	case string:
		return x, true
	case Markup:
		return string(x), true
	}
	return "", false
}

// Truth returns bool(v).
func Truth(t *Thread, v Value) bool {
	switch x := v.(type) {
	case nil:
		return false
	case bool:
		return x
	case int:
		return x != 0
	case *big.Int:
		return true
	case float64:
		return x != 0
	case string:
		return x != ""
	case Markup:
		return x != ""
	case Bytes:
		return x != ""
	case *List:
		return len(x.Items) > 0
	case *Tuple:
		return len(x.Items) > 0
	case *Dict:
		return x.Len() > 0
	case *Range:
		return x.Len() > 0
	case *View:
		return x.Dict.Len() > 0
	case *Undefined:
		return false
	case Sized:
		return x.Len(t) > 0
	}
	return true
}

// Len returns len(v); false is a TypeError.
func Len(t *Thread, v Value) (int, bool) {
	switch x := v.(type) {
	case string:
		return runeCount(x), true
	case Markup:
		return runeCount(string(x)), true
	case Bytes:
		return len(x), true
	case *List:
		return len(x.Items), true
	case *Tuple:
		return len(x.Items), true
	case *Dict:
		return x.Len(), true
	case *Range:
		return x.Len(), true
	case *View:
		return x.Dict.Len(), true
	case *Undefined:
		return 0, true
	case Sized:
		return x.Len(t), true
	}
	return 0, false
}
