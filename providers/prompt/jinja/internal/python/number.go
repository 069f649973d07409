package python

import (
	"math"
	"math/big"
	"math/bits"
)

// maxBits bounds the integers that ** and * may make.
const maxBits = 1 << 17

// integer returns v as an int or a *big.Int when it is an int or a bool.
func integer(v Value) (Value, bool) {
	switch x := v.(type) {
	case bool:
		return boolInt(x), true
	case int, *big.Int:
		return x, true
	}
	return nil, false
}

// toBig returns an integer as a *big.Int that must not be changed.
func toBig(v Value) *big.Int {
	if i, ok := v.(int); ok {
		return big.NewInt(int64(i))
	}
	return v.(*big.Int)
}

// isNumber says whether v is a bool, an int or a float.
func isNumber(v Value) bool {
	switch v.(type) {
	case bool, int, *big.Int, float64:
		return true
	}
	return false
}

// toFloat returns a number as a float; an int that is too large raises
// OverflowError.
func toFloat(v Value) float64 {
	switch x := v.(type) {
	case float64:
		return x
	case bool:
		return float64(boolInt(x))
	case int:
		return float64(x)
	}
	f, _ := new(big.Float).SetInt(v.(*big.Int)).Float64()
	if math.IsInf(f, 0) {
		Raise(OverflowError, "int too large to convert to float")
	}
	return f
}

// floatToInt returns int(f) for a finite f.
func floatToInt(f float64) Value {
	f = math.Trunc(f)
	if f >= -1<<62 && f <= 1<<62 {
		return int(f)
	}
	b, _ := big.NewFloat(f).Int(nil)
	return normal(b)
}

// addInt, subInt and mulInt work on two integers.
func addInt(a, b Value) Value {
	if x, ok := a.(int); ok {
		if y, ok := b.(int); ok {
			if sum := x + y; (sum > x) == (y > 0) {
				return sum
			}
		}
	}
	return normal(new(big.Int).Add(toBig(a), toBig(b)))
}

func subInt(a, b Value) Value {
	if x, ok := a.(int); ok {
		if y, ok := b.(int); ok {
			if diff := x - y; (diff < x) == (y > 0) {
				return diff
			}
		}
	}
	return normal(new(big.Int).Sub(toBig(a), toBig(b)))
}

func mulInt(t *Thread, a, b Value) Value {
	if x, ok := a.(int); ok {
		if y, ok := b.(int); ok {
			high, low := bits.Mul(uint(magnitude(x)), uint(magnitude(y)))
			if high == 0 && low <= math.MaxInt64 && x != math.MinInt && y != math.MinInt {
				return x * y
			}
		}
	}
	x, y := toBig(a), toBig(b)
	limitBits(t, x.BitLen()+y.BitLen())
	return normal(new(big.Int).Mul(x, y))
}

func magnitude(x int) int {
	if x < 0 {
		return -x
	}
	return x
}

func limitBits(t *Thread, n int) {
	if n > maxBits || n < 0 {
		Raise(LimitError, "an integer of more than %d bits", maxBits)
	}
	t.Spend(n >> 8)
}

// divModInt returns a // b and a % b, rounded towards minus infinity.
func divModInt(a, b Value) (quotient, rest Value) {
	if x, ok := a.(int); ok {
		if y, ok := b.(int); ok && y != 0 && x != math.MinInt {
			q, r := x/y, x%y
			if r != 0 && (r < 0) != (y < 0) {
				q--
				r += y
			}
			return q, r
		}
	}
	x, y := toBig(a), toBig(b)
	if y.Sign() == 0 {
		Raise("ZeroDivisionError", "integer division or modulo by zero")
	}
	q, r := new(big.Int).QuoRem(x, y, new(big.Int))
	if r.Sign() != 0 && (r.Sign() < 0) != (y.Sign() < 0) {
		q.Sub(q, big.NewInt(1))
		r.Add(r, y)
	}
	return normal(q), normal(r)
}

// trueDiv returns a / b, the float nearest to the quotient.
func trueDiv(a, b Value) float64 {
	x, y := toBig(a), toBig(b)
	if y.Sign() == 0 {
		Raise("ZeroDivisionError", "division by zero")
	}
	if x.BitLen() <= 53 && y.BitLen() <= 53 {
		return toFloat(a) / toFloat(b)
	}
	f, _ := new(big.Rat).SetFrac(x, y).Float64()
	if math.IsInf(f, 0) {
		Raise(OverflowError, "integer division result too large for a float")
	}
	return f
}

// divModFloat returns a // b and a % b the way CPython does: the rest has the
// sign of b, and the quotient is corrected for rounding.
func divModFloat(a, b float64) (quotient, rest float64) {
	if b == 0 {
		Raise("ZeroDivisionError", "float floor division by zero")
	}
	rest = math.Mod(a, b)
	div := (a - rest) / b
	if rest != 0 {
		if (b < 0) != (rest < 0) {
			rest += b
			div--
		}
	} else {
		rest = math.Copysign(0, b)
	}
	if div == 0 {
		return math.Copysign(0, a/b), rest
	}
	quotient = math.Floor(div)
	if div-quotient > 0.5 {
		quotient++
	}
	return quotient, rest
}

func power(t *Thread, a, b Value) Value {
	x, xInt := integer(a)
	y, yInt := integer(b)
	if xInt && yInt && toBig(y).Sign() >= 0 {
		return powInt(t, toBig(x), toBig(y))
	}
	return powFloat(toFloat(a), toFloat(b))
}

func powInt(t *Thread, x, y *big.Int) Value {
	if x.BitLen() <= 1 { // -1, 0, 1: the exponent may be as large as it likes
		switch {
		case y.Sign() == 0 || x.Sign() > 0 || x.Sign() < 0 && y.Bit(0) == 0:
			return 1
		case x.Sign() == 0:
			return 0
		}
		return -1
	}
	if !y.IsInt64() || y.Int64() > maxBits {
		limitBits(t, -1)
	}
	limitBits(t, x.BitLen()*int(y.Int64()))
	t.Spend(x.BitLen() * int(y.Int64()) >> 6)
	return normal(new(big.Int).Exp(x, y, nil))
}

func powFloat(x, y float64) Value {
	if x == 0 && y < 0 {
		Raise("ZeroDivisionError", "0.0 cannot be raised to a negative power")
	}
	if x < 0 && !math.IsInf(x, 0) && !math.IsInf(y, 0) && y != math.Trunc(y) {
		Raise(UnsupportedError, "complex numbers are not supported")
	}
	f := math.Pow(x, y)
	if math.IsInf(f, 0) && !math.IsInf(x, 0) && !math.IsInf(y, 0) {
		Raise(OverflowError, "(34, 'Numerical result out of range')")
	}
	return f
}
