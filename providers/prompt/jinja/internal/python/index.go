package python

import (
	"math"
	"math/big"
	"unicode/utf8"
)

// index returns obj[key]; false stands for the TypeError, IndexError or
// KeyError that Jinja turns into an undefined value.
func index(t *Thread, obj, key Value) (Value, bool) {
	switch x := obj.(type) {
	case *Dict:
		if s, ok := Text(key); ok {
			return x.Lookup(s)
		}
		h, ok := Hash(key)
		if !ok {
			return nil, false
		}
		if i := x.find(h); i >= 0 {
			return x.values[i], true
		}
		return nil, false
	case *Undefined:
		x.Fail()
	case Indexed:
		return x.Index(t, key)
	}
	if s, ok := key.(*Slice); ok {
		var v Value
		if err := Catch(func() { v = GetSlice(t, obj, s.Start, s.Stop, s.Step) }); err != nil {
			if err.Class != TypeError {
				panic(err)
			}
			return nil, false
		}
		return v, true
	}
	i, ok := place(key)
	if !ok {
		return nil, false
	}
	return item(obj, i)
}

// place returns an int key; a large one is beyond every end.
func place(key Value) (int, bool) {
	i, ok := integer(key)
	if !ok {
		return 0, false
	}
	if n, ok := i.(int); ok {
		return n, true
	}
	return math.MaxInt, true
}

// item returns the i-th item of a sequence, counted from the end when negative.
func item(obj Value, i int) (Value, bool) {
	switch x := obj.(type) {
	case *List:
		return pick(x.Items, i)
	case *Tuple:
		return pick(x.Items, i)
	case string:
		return runeAt(x, i)
	case Markup:
		c, ok := runeAt(string(x), i)
		return Markup(c), ok
	case Bytes:
		if i < 0 {
			i += len(x)
		}
		if i < 0 || i >= len(x) {
			return nil, false
		}
		return int(x[i]), true
	case *Range:
		if i < 0 {
			i += x.Len()
		}
		if i < 0 || i >= x.Len() {
			return nil, false
		}
		return x.At(i), true
	}
	return nil, false
}

func pick(items []Value, i int) (Value, bool) {
	if i < 0 {
		i += len(items)
	}
	if i < 0 || i >= len(items) {
		return nil, false
	}
	return items[i], true
}

func runeAt(s string, i int) (string, bool) {
	if i < 0 {
		for ; i < 0; i++ {
			if s == "" {
				return "", false
			}
			_, n := utf8.DecodeLastRuneInString(s)
			if i == -1 {
				return s[len(s)-n:], true
			}
			s = s[:len(s)-n]
		}
	}
	for at := range s {
		if i == 0 {
			_, n := utf8.DecodeRuneInString(s[at:])
			return s[at : at+n], true
		}
		i--
	}
	return "", false
}

// GetSlice returns obj[start:stop:step]. Unlike an index it raises.
func GetSlice(t *Thread, obj, start, stop, step Value) Value {
	mustDefined(obj)
	n := -1
	switch x := obj.(type) {
	case *List:
		n = len(x.Items)
	case *Tuple:
		n = len(x.Items)
	case string, Markup, Bytes, *Range:
		n, _ = Len(t, obj)
	case *Dict:
		Raise(TypeError, "unhashable type: 'slice'")
	case Indexed:
		if v, ok := x.Index(t, &Slice{start, stop, step}); ok {
			return v
		}
		Raise("KeyError", "slice(%s, %s, %s)", reprShort(start), reprShort(stop), reprShort(step))
	default:
		Raise(TypeError, "'%s' object is not subscriptable", TypeName(obj))
	}
	lo, hi, by := sliceBounds(n, start, stop, step)
	t.Spend(n >> 4)
	if x, ok := obj.(*Range); ok {
		return &Range{Start: x.Start + lo*x.Step, Stop: x.Start + hi*x.Step, Step: x.Step * by}
	}
	by = max(min(by, n+1), -n-1) // a step over everything, kept from overflowing
	switch x := obj.(type) {
	case *List:
		return &List{Items: sliceItems(t, x.Items, lo, hi, by)}
	case *Tuple:
		return &Tuple{Items: sliceItems(t, x.Items, lo, hi, by)}
	case Bytes:
		var part []byte
		for i := lo; by > 0 && i < hi || by < 0 && i > hi; i += by {
			part = append(part, x[i])
		}
		return Bytes(part)
	}
	s, _ := Text(obj)
	return like(obj, sliceText(t, s, n, lo, hi, by))
}

// sliceBounds resolves the three parts against a length, as slice.indices does.
func sliceBounds(n int, start, stop, step Value) (lo, hi, by int) {
	by = 1
	if step != nil {
		by = sliceIndex(step)
		if by == 0 {
			Raise(ValueError, "slice step cannot be zero")
		}
		by = max(by, -math.MaxInt)
	}
	first, last := 0, n
	if by < 0 {
		first, last = n-1, -1
	}
	bound := func(v Value, otherwise int) int {
		if v == nil {
			return otherwise
		}
		i := sliceIndex(v)
		if i < 0 {
			i += n
			if i < 0 {
				i = min(0, by>>63) // 0 upwards, -1 downwards
			}
		} else if i >= n {
			i = n
			if by < 0 {
				i = n - 1
			}
		}
		return i
	}
	return bound(start, first), bound(stop, last), by
}

func sliceIndex(v Value) int {
	switch v.(type) {
	case bool, int, *big.Int:
		return max(Index(v), -math.MaxInt)
	}
	Raise(TypeError, "slice indices must be integers or None or have an __index__ method")
	return 0
}

func sliceItems(t *Thread, items []Value, lo, hi, by int) []Value {
	if by == 1 {
		if lo >= hi {
			return nil
		}
		t.Items(hi - lo)
		return append([]Value(nil), items[lo:hi]...)
	}
	var part []Value
	for i := lo; by > 0 && i < hi || by < 0 && i > hi; i += by {
		t.Step()
		part = append(part, items[i])
	}
	return part
}

func sliceText(t *Thread, s string, n, lo, hi, by int) string {
	if by == 1 {
		if lo >= hi {
			return ""
		}
		from := byteOffset(s, lo, n)
		return s[from : from+byteOffset(s[from:], hi-lo, n-lo)]
	}
	runes := []rune(s)
	b := NewBuffer(t)
	for i := lo; by > 0 && i < hi || by < 0 && i > hi; i += by {
		b.WriteRune(runes[i])
	}
	return b.String()
}

// byteOffset returns where the i-th character of s starts, in bytes; n is the
// number of its characters.
func byteOffset(s string, i, n int) int {
	if n == len(s) {
		return min(i, n)
	}
	if i >= n {
		return len(s)
	}
	for at := range s {
		if i == 0 {
			return at
		}
		i--
	}
	return len(s)
}

// Subscript returns obj[key] and raises where it does not exist.
func Subscript(t *Thread, obj, key Value) Value {
	v, ok := index(t, obj, key)
	if !ok {
		if _, isDict := obj.(*Dict); isDict {
			Raise("KeyError", "%s", reprShort(key))
		}
		Raise(TypeError, "'%s' object is not subscriptable", TypeName(obj))
	}
	return v
}
