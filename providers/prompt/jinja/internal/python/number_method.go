package python

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"strconv"
	"strings"
)

// constant is a method without arguments whose result is already known.
func constant(self Value, name string, v func() Value) *Function {
	return bind(func(_ *Thread, _ Value, a Args) Value {
		a.Plain(name, 0, 0)
		return v()
	}, self, name)
}

// rare is a method that Python has and that no prompt needs: it refuses.
func rare(self Value, name string) *Function {
	return bind(func(*Thread, Value, Args) Value {
		Raise(UnsupportedError, "%s.%s is not supported", TypeName(self), name)
		return nil
	}, self, name)
}

// intAttr returns the public attributes of int and bool.
func intAttr(v Value, name string) (Value, bool) {
	i, _ := integer(v)
	switch name {
	case "real", "numerator":
		return i, true
	case "imag":
		return 0, true
	case "denominator":
		return 1, true
	case "conjugate":
		return constant(v, name, func() Value { return i }), true
	case "bit_length":
		return constant(v, name, func() Value { return toBig(i).BitLen() }), true
	case "bit_count":
		return constant(v, name, func() Value {
			n := 0
			for _, word := range toBig(i).Bits() {
				n += bits.OnesCount(uint(word))
			}
			return n
		}), true
	case "as_integer_ratio":
		return constant(v, name, func() Value { return NewTuple(i, 1) }), true
	case "to_bytes", "from_bytes":
		return rare(v, name), true
	}
	return nil, false
}

// floatAttr returns the public attributes of float.
func floatAttr(f float64, name string) (Value, bool) {
	switch name {
	case "real":
		return f, true
	case "imag":
		return 0.0, true
	case "conjugate":
		return constant(f, name, func() Value { return f }), true
	case "is_integer":
		return constant(f, name, func() Value { return f == math.Trunc(f) && !math.IsInf(f, 0) }), true
	case "hex":
		return constant(f, name, func() Value { return floatHex(f) }), true
	case "as_integer_ratio":
		return constant(f, name, func() Value {
			if math.IsNaN(f) {
				Raise(ValueError, "cannot convert NaN to integer ratio")
			}
			if math.IsInf(f, 0) {
				Raise(OverflowError, "cannot convert Infinity to integer ratio")
			}
			r := new(big.Rat).SetFloat64(f)
			return NewTuple(normal(new(big.Int).Set(r.Num())), normal(new(big.Int).Set(r.Denom())))
		}), true
	case "fromhex":
		return rare(f, name), true
	}
	return nil, false
}

// floatHex returns f.hex(): 13 hexadecimal digits and a decimal exponent.
func floatHex(f float64) string {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return FloatRepr(f)
	}
	sign := ""
	if math.Signbit(f) {
		sign, f = "-", -f
	}
	if f == 0 {
		return sign + "0x0.0p+0"
	}
	if f < 0x1p-1022 { // subnormal: Python keeps the smallest exponent
		return fmt.Sprintf("%s0x0.%013xp-1022", sign, math.Float64bits(f))
	}
	digits, exponent, _ := strings.Cut(strconv.FormatFloat(f, 'x', 13, 64), "p")
	e, _ := strconv.Atoi(exponent)
	return fmt.Sprintf("%s%sp%+d", sign, digits, e)
}
