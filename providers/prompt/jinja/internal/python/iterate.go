package python

import "unicode/utf8"

// Iter yields values one at a time; false ends it (StopIteration).
type Iter func() (Value, bool)

// Iterator is a one-way iterator: what generators, map and reversed return.
type Iterator struct {
	Kind string // "generator", "list_reverseiterator", ...
	Next Iter
}

// NewGenerator returns a generator over next. Nothing runs before the first
// item is asked for, as in Python.
func NewGenerator(next Iter) *Iterator { return &Iterator{Kind: "generator", Next: next} }

// Iterate returns iter(v). It raises TypeError for what is not iterable.
func Iterate(t *Thread, v Value) Iter {
	next, ok := iterate(t, v)
	if !ok {
		Raise(TypeError, "'%s' object is not iterable", TypeName(v))
	}
	return next
}

// CanIterate says whether iter(v) would succeed.
func CanIterate(t *Thread, v Value) bool {
	_, ok := iterate(t, v)
	return ok
}

func iterate(t *Thread, v Value) (Iter, bool) {
	switch x := v.(type) {
	case *List: // looks at the list anew each time: it may shrink on the way
		i := 0
		return func() (Value, bool) {
			if i >= len(x.Items) {
				return nil, false
			}
			t.Step()
			i++
			return x.Items[i-1], true
		}, true
	case *Tuple:
		return iterItems(t, x.Items), true
	case *Dict:
		return iterItems(t, x.keys), true
	case string:
		return iterRunes(t, x), true
	case Markup:
		return iterRunes(t, string(x)), true
	case Bytes:
		return iterCount(t, len(x), func(i int) Value { return int(x[i]) }), true
	case *Range:
		return iterCount(t, x.Len(), func(i int) Value { return x.At(i) }), true
	case *View:
		return iterCount(t, x.Dict.Len(), x.at), true
	case *Iterator:
		return x.Next, true
	case *Undefined:
		return func() (Value, bool) { return nil, false }, true
	case Iterable:
		return x.Iterate(t), true
	}
	return nil, false
}

func iterItems(t *Thread, items []Value) Iter {
	return iterCount(t, len(items), func(i int) Value { return items[i] })
}

func iterCount(t *Thread, n int, at func(int) Value) Iter {
	i := 0
	return func() (Value, bool) {
		if i >= n {
			return nil, false
		}
		t.Step()
		i++
		return at(i - 1), true
	}
}

func iterRunes(t *Thread, s string) Iter {
	return func() (Value, bool) {
		if s == "" {
			return nil, false
		}
		t.Step()
		_, n := utf8.DecodeRuneInString(s)
		c := s[:n]
		s = s[n:]
		return c, true
	}
}

// Collect returns list(v) as a slice that the caller may change.
func Collect(t *Thread, v Value) []Value {
	switch x := v.(type) {
	case *List:
		t.Items(len(x.Items))
		return append([]Value(nil), x.Items...)
	case *Tuple:
		t.Items(len(x.Items))
		return append([]Value(nil), x.Items...)
	}
	var items []Value
	next := Iterate(t, v)
	for item, ok := next(); ok; item, ok = next() {
		items = append(items, item)
		if len(items) > t.MaxBytes/16 {
			t.Items(len(items))
		}
	}
	return items
}

// Reversed returns iter(reversed(v)); false is a TypeError.
func Reversed(t *Thread, v Value) (*Iterator, bool) {
	kind, items := "", []Value(nil)
	switch x := v.(type) {
	case *List:
		kind, items = "list_reverseiterator", x.Items
	case *Tuple:
		kind, items = "reversed", x.Items
	case string, Markup:
		kind, items = "reversed", Collect(t, x)
	case *Range:
		kind, items = "range_iterator", Collect(t, x)
	case Bytes:
		kind, items = "reversed", Collect(t, x)
	case *Dict:
		kind, items = "dict_reversekeyiterator", x.keys
	case *View:
		kind, items = x.Kind.reversed(), Collect(t, x)
	case *Undefined: // has a length and takes an index, so that reversed accepts it
		kind = "reversed"
	default:
		return nil, false
	}
	n := len(items)
	return &Iterator{Kind: kind, Next: iterCount(t, n, func(i int) Value { return items[n-1-i] })}, true
}
