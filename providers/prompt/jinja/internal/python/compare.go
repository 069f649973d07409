package python

import (
	"math"
	"math/big"
	"strings"
)

// Equal returns a == b.
func Equal(t *Thread, a, b Value) bool {
	switch x := a.(type) {
	case nil:
		return b == nil
	case string, Markup:
		s, _ := Text(a)
		r, ok := Text(b)
		return ok && s == r
	case bool, int, *big.Int, float64:
		return isNumber(b) && compareNumbers(a, b) == 0
	case Bytes:
		y, ok := b.(Bytes)
		return ok && x == y
	case *List:
		y, ok := b.(*List)
		return ok && equalItems(t, x.Items, y.Items)
	case *Tuple:
		y, ok := b.(*Tuple)
		return ok && equalItems(t, x.Items, y.Items)
	case *Dict:
		y, ok := b.(*Dict)
		return ok && equalDicts(t, x, y)
	case *Range:
		y, ok := b.(*Range)
		return ok && equalRanges(x, y)
	case *View:
		y, ok := b.(*View)
		if !ok || x.Kind == Values || y.Kind == Values {
			return a == b
		}
		return equalViews(t, x, y)
	case *Undefined:
		return IsUndefined(b)
	}
	return a == b
}

func equalItems(t *Thread, a, b []Value) bool {
	if len(a) != len(b) {
		return false
	}
	t.Enter(1)
	defer t.Leave(1)
	for i := range a {
		t.Step()
		if !same(a[i], b[i]) && !Equal(t, a[i], b[i]) {
			return false
		}
	}
	return true
}

// same is Python's shortcut inside containers: an object equals itself, even
// where == would say otherwise.
func same(a, b Value) bool {
	switch a.(type) {
	case *List, *Dict, *Tuple:
		return a == b
	}
	return false
}

func equalDicts(t *Thread, a, b *Dict) bool {
	if a.Len() != b.Len() {
		return false
	}
	t.Enter(1)
	defer t.Leave(1)
	for i, key := range a.keys {
		t.Step()
		value, ok := b.Get(key)
		if !ok || !same(a.values[i], value) && !Equal(t, a.values[i], value) {
			return false
		}
	}
	return true
}

func equalRanges(a, b *Range) bool {
	n := a.Len()
	if n != b.Len() {
		return false
	}
	return n == 0 || a.Start == b.Start && (n == 1 || a.Step == b.Step)
}

// equalViews compares keys and items as the sets that they are.
func equalViews(t *Thread, a, b *View) bool {
	if a.Dict.Len() != b.Dict.Len() {
		return false
	}
	for i := range a.Dict.keys {
		t.Step()
		if !b.contains(t, a.at(i)) {
			return false
		}
	}
	return true
}

// compareNumbers returns -1, 0 or 1, exactly even between large integers and
// floats, and 2 when one is a NaN.
func compareNumbers(a, b Value) int {
	x, aInt := integer(a)
	y, bInt := integer(b)
	if i, ok := x.(int); ok && aInt {
		if j, ok := y.(int); ok && bInt {
			switch {
			case i < j:
				return -1
			case i > j:
				return 1
			}
			return 0
		}
	}
	if aInt && bInt {
		return toBig(x).Cmp(toBig(y))
	}
	if !aInt && !bInt {
		return compareFloats(a.(float64), b.(float64))
	}
	if aInt {
		return compareIntFloat(x, b.(float64))
	}
	if c := compareIntFloat(y, a.(float64)); c != 2 {
		return -c
	}
	return 2
}

func compareFloats(x, y float64) int {
	switch {
	case x < y:
		return -1
	case x > y:
		return 1
	case x == y:
		return 0
	}
	return 2
}

func compareIntFloat(i Value, f float64) int {
	switch {
	case math.IsNaN(f):
		return 2
	case math.IsInf(f, 1):
		return -1
	case math.IsInf(f, -1):
		return 1
	}
	return new(big.Float).SetInt(toBig(i)).Cmp(big.NewFloat(f))
}

// Op is an ordering operator.
type Op string

// The four orderings.
const (
	Less         Op = "<"
	LessEqual    Op = "<="
	Greater      Op = ">"
	GreaterEqual Op = ">="
)

// holds says whether the operator accepts the order c: -1, 0, 1, or 2 for "not
// comparable", which no operator accepts.
func (op Op) holds(c int) bool {
	switch op {
	case Less:
		return c == -1
	case LessEqual:
		return c == -1 || c == 0
	case Greater:
		return c == 1
	}
	return c == 0 || c == 1
}

// Compare returns a op b.
func Compare(t *Thread, op Op, a, b Value) bool {
	if isNumber(a) && isNumber(b) {
		return op.holds(compareNumbers(a, b))
	}
	if s, ok := Text(a); ok {
		if r, ok := Text(b); ok { // UTF-8 sorts by code point
			return op.holds(strings.Compare(s, r))
		}
	}
	switch x := a.(type) {
	case *List:
		if y, ok := b.(*List); ok {
			return compareItems(t, op, x.Items, y.Items)
		}
	case *Tuple:
		if y, ok := b.(*Tuple); ok {
			return compareItems(t, op, x.Items, y.Items)
		}
	case Bytes:
		if y, ok := b.(Bytes); ok {
			return op.holds(strings.Compare(string(x), string(y)))
		}
	case *View:
		if y, ok := b.(*View); ok && x.Kind != Values && y.Kind != Values {
			Raise(UnsupportedError, "sets are not supported")
		}
	}
	failUndefined(a, b)
	Raise(TypeError, "'%s' not supported between instances of '%s' and '%s'", op, TypeName(a), TypeName(b))
	return false
}

// compareItems compares the first items that differ, then the lengths.
func compareItems(t *Thread, op Op, a, b []Value) bool {
	t.Enter(1)
	defer t.Leave(1)
	for i := 0; i < len(a) && i < len(b); i++ {
		t.Step()
		if !same(a[i], b[i]) && !Equal(t, a[i], b[i]) {
			return Compare(t, op, a[i], b[i])
		}
	}
	return op.holds(compareNumbers(len(a), len(b)))
}

// Contains returns item in container.
func Contains(t *Thread, container, item Value) bool {
	switch x := container.(type) {
	case string, Markup:
		s, _ := Text(container)
		part, ok := Text(item)
		if !ok {
			Raise(TypeError, "'in <string>' requires string as left operand, not %s", TypeName(item))
		}
		t.Spend(len(s) >> 6)
		return strings.Contains(s, part)
	case *List:
		return containsItem(t, x.Items, item)
	case *Tuple:
		return containsItem(t, x.Items, item)
	case *Dict:
		_, ok := x.Get(item)
		return ok
	case *Range:
		return x.find(item) >= 0
	case *View:
		return x.contains(t, item)
	case Bytes:
		return bytesContain(x, item)
	}
	next, ok := iterate(t, container)
	if !ok {
		Raise(TypeError, "argument of type '%s' is not iterable", TypeName(container))
	}
	for v, ok := next(); ok; v, ok = next() {
		if v == item || Equal(t, v, item) {
			return true
		}
	}
	return false
}

func containsItem(t *Thread, items []Value, item Value) bool {
	for _, v := range items {
		t.Step()
		if same(v, item) || Equal(t, v, item) {
			return true
		}
	}
	return false
}

func bytesContain(b Bytes, item Value) bool {
	switch x := item.(type) {
	case Bytes:
		return strings.Contains(string(b), string(x))
	case int:
		if x < 0 || x > 255 {
			Raise(ValueError, "byte must be in range(0, 256)")
		}
		return strings.IndexByte(string(b), byte(x)) >= 0
	}
	Raise(TypeError, "a bytes-like object is required, not '%s'", TypeName(item))
	return false
}

// Identical returns a is b. Values that Go holds without identity count as
// identical when CPython keeps one object of them: small integers, single
// Latin-1 characters, and text that shares its bytes.
func Identical(a, b Value) bool {
	switch x := a.(type) {
	case int:
		y, ok := b.(int)
		return ok && x == y && x >= -5 && x <= 256
	case *big.Int, Bytes:
		return false
	case float64:
		return false
	case string:
		y, ok := b.(string)
		return ok && sameText(x, y)
	case Markup:
		y, ok := b.(Markup)
		return ok && x != "" && sameText(string(x), string(y))
	}
	return a == b
}
