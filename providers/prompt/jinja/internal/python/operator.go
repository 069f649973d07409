package python

import "math/big"

// Add returns a + b.
func Add(t *Thread, a, b Value) Value {
	if x, ok := a.(int); ok {
		if y, ok := b.(int); ok {
			return addInt(x, y)
		}
	}
	if _, ok := Text(a); ok {
		if _, ok := Text(b); ok {
			return addText(t, a, b)
		}
	}
	failUndefined(a, b)
	if x, y, ok := integers(a, b); ok {
		return addInt(x, y)
	}
	if isNumber(a) && isNumber(b) {
		return toFloat(a) + toFloat(b)
	}
	switch x := a.(type) {
	case *List:
		if y, ok := b.(*List); ok {
			return &List{Items: chain(t, x.Items, y.Items)}
		}
	case *Tuple:
		if y, ok := b.(*Tuple); ok {
			return &Tuple{Items: chain(t, x.Items, y.Items)}
		}
	case Bytes:
		if y, ok := b.(Bytes); ok {
			t.Text(len(x) + len(y))
			return x + y
		}
		Raise(TypeError, "can't concat %s to bytes", TypeName(b))
	}
	switch a.(type) {
	case string, *List, *Tuple:
		if _, marked := b.(Markup); !marked {
			Raise(TypeError, `can only concatenate %s (not "%s") to %[1]s`, sequenceName(a), TypeName(b))
		}
	}
	return unsupported("+", a, b)
}

func sequenceName(v Value) string {
	if _, ok := v.(*Tuple); ok {
		return "tuple"
	}
	return TypeName(v)
}

func chain(t *Thread, a, b []Value) []Value {
	t.Items(len(a) + len(b))
	return append(append(make([]Value, 0, len(a)+len(b)), a...), b...)
}

// Sub returns a - b.
func Sub(t *Thread, a, b Value) Value {
	failUndefined(a, b)
	if x, y, ok := integers(a, b); ok {
		return subInt(x, y)
	}
	if isNumber(a) && isNumber(b) {
		return toFloat(a) - toFloat(b)
	}
	if v, ok := a.(*View); ok && v.Kind != Values && CanIterate(t, b) {
		Raise(UnsupportedError, "sets are not supported")
	}
	return unsupported("-", a, b)
}

// Mul returns a * b.
func Mul(t *Thread, a, b Value) Value {
	failUndefined(a, b)
	if x, y, ok := integers(a, b); ok {
		return mulInt(t, x, y)
	}
	if isNumber(a) && isNumber(b) {
		return toFloat(a) * toFloat(b)
	}
	if repeatable(a) {
		return times(t, a, b)
	}
	if repeatable(b) {
		return times(t, b, a)
	}
	return unsupported("*", a, b)
}

func repeatable(v Value) bool {
	switch v.(type) {
	case string, Markup, Bytes, *List, *Tuple:
		return true
	}
	return false
}

func times(t *Thread, v, count Value) Value {
	c, ok := integer(count)
	if !ok {
		if _, marked := v.(Markup); marked {
			return unsupported("*", v, count)
		}
		Raise(TypeError, "can't multiply sequence by non-int of type '%s'", TypeName(count))
	}
	n, fits := c.(int)
	if !fits {
		Raise(OverflowError, "cannot fit 'int' into an index-sized integer")
	}
	n = max(n, 0)
	switch x := v.(type) {
	case *List:
		return &List{Items: timesItems(t, x.Items, n)}
	case *Tuple:
		return &Tuple{Items: timesItems(t, x.Items, n)}
	case Bytes:
		return Bytes(repeat(t, string(x), n))
	}
	s, _ := Text(v)
	return like(v, repeat(t, s, n))
}

func timesItems(t *Thread, items []Value, n int) []Value {
	if len(items) == 0 || n == 0 {
		return nil
	}
	if n > t.MaxBytes/len(items) {
		t.Items(-1)
	}
	t.Items(n * len(items))
	all := make([]Value, 0, n*len(items))
	for range n {
		all = append(all, items...)
	}
	return all
}

// Div returns a / b.
func Div(_ *Thread, a, b Value) Value {
	failUndefined(a, b)
	if x, y, ok := integers(a, b); ok {
		return trueDiv(x, y)
	}
	if isNumber(a) && isNumber(b) {
		if toFloat(b) == 0 {
			Raise("ZeroDivisionError", "float division by zero")
		}
		return toFloat(a) / toFloat(b)
	}
	return unsupported("/", a, b)
}

// FloorDiv returns a // b.
func FloorDiv(_ *Thread, a, b Value) Value {
	failUndefined(a, b)
	if x, y, ok := integers(a, b); ok {
		q, _ := divModInt(x, y)
		return q
	}
	if isNumber(a) && isNumber(b) {
		q, _ := divModFloat(toFloat(a), toFloat(b))
		return q
	}
	return unsupported("//", a, b)
}

// Mod returns a % b, which for a str formats.
func Mod(t *Thread, a, b Value) Value {
	if _, ok := Text(a); ok {
		return Percent(t, a, b)
	}
	failUndefined(a, b)
	if x, y, ok := integers(a, b); ok {
		_, r := divModInt(x, y)
		return r
	}
	if isNumber(a) && isNumber(b) {
		if toFloat(b) == 0 {
			Raise("ZeroDivisionError", "float modulo")
		}
		_, r := divModFloat(toFloat(a), toFloat(b))
		return r
	}
	return unsupported("%", a, b)
}

// Pow returns a ** b.
func Pow(t *Thread, a, b Value) Value {
	failUndefined(a, b)
	if isNumber(a) && isNumber(b) {
		return power(t, a, b)
	}
	return unsupported("** or pow()", a, b)
}

// Neg returns -v.
func Neg(_ *Thread, v Value) Value {
	mustDefined(v)
	if i, ok := integer(v); ok {
		return subInt(0, i)
	}
	if f, ok := v.(float64); ok {
		return -f
	}
	Raise(TypeError, "bad operand type for unary -: '%s'", TypeName(v))
	return nil
}

// Pos returns +v.
func Pos(_ *Thread, v Value) Value {
	mustDefined(v)
	if i, ok := integer(v); ok {
		return i
	}
	if f, ok := v.(float64); ok {
		return f
	}
	Raise(TypeError, "bad operand type for unary +: '%s'", TypeName(v))
	return nil
}

// Abs returns abs(v).
func Abs(_ *Thread, v Value) Value {
	if i, ok := integer(v); ok {
		if b := toBig(i); b.Sign() < 0 {
			return normal(new(big.Int).Neg(b))
		}
		return i
	}
	if f, ok := v.(float64); ok {
		if f < 0 || f == 0 {
			return 0 - f
		}
		return f
	}
	Raise(TypeError, "bad operand type for abs(): '%s'", TypeName(v))
	return nil
}

func integers(a, b Value) (x, y Value, ok bool) {
	if x, ok = integer(a); ok {
		y, ok = integer(b)
	}
	return x, y, ok
}

// failUndefined raises for the left operand first, as Python asks it first.
func failUndefined(a, b Value) {
	mustDefined(a)
	mustDefined(b)
}

func unsupported(op string, a, b Value) Value {
	Raise(TypeError, "unsupported operand type(s) for %s: '%s' and '%s'", op, TypeName(a), TypeName(b))
	return nil
}
