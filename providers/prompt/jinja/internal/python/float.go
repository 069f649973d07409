package python

import (
	"math"
	"math/big"
	"strconv"
	"strings"
)

// FloatRepr returns repr(f): the shortest text that reads back as f, with an
// exponent from 1e16 and below 1e-4.
func FloatRepr(f float64) string {
	switch {
	case math.IsNaN(f):
		return "nan"
	case math.IsInf(f, 1):
		return "inf"
	case math.IsInf(f, -1):
		return "-inf"
	}
	if a := math.Abs(f); a != 0 && (a < 1e-4 || a >= 1e16) {
		return strconv.FormatFloat(f, 'e', -1, 64)
	}
	s := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

// maxDigits is CPython's limit for conversions between int and text.
const maxDigits = 4300

func formatBig(t *Thread, b *big.Int) string {
	t.Spend(b.BitLen() >> 4)
	s := b.String()
	if len(strings.TrimPrefix(s, "-")) > maxDigits {
		Raise(ValueError, "Exceeds the limit (%d digits) for integer string conversion; use sys.set_int_max_str_digits() to increase the limit", maxDigits)
	}
	return s
}

// Float returns float(v): of a number, or of text with spaces around it and
// underscores between digits. It raises TypeError or ValueError.
func Float(_ *Thread, v Value) float64 {
	if isNumber(v) {
		return toFloat(v)
	}
	text, ok := Text(v)
	if b, isBytes := v.(Bytes); isBytes {
		text, ok = string(b), true
	}
	if !ok {
		mustDefined(v)
		Raise(TypeError, "float() argument must be a string or a real number, not '%s'", TypeName(v))
	}
	f, ok := parseFloat(decimalDigits(strings.TrimFunc(text, IsSpace)))
	if !ok {
		Raise(ValueError, "could not convert string to float: %s", quote(text))
	}
	return f
}

func parseFloat(s string) (float64, bool) {
	digits, ok := dropUnderscores(s)
	if !ok {
		return 0, false
	}
	switch strings.ToLower(strings.TrimLeft(digits, "+-")) {
	case "inf", "infinity", "nan":
		if len(digits)-len(strings.TrimLeft(digits, "+-")) > 1 {
			return 0, false
		}
	default:
		if strings.ContainsAny(digits, "xXpPiInN") {
			return 0, false // Go reads hexadecimal and more; Python does not
		}
	}
	f, err := strconv.ParseFloat(digits, 64)
	if err != nil && !math.IsInf(f, 0) {
		return 0, false
	}
	return f, true
}

// dropUnderscores removes underscores, which may only stand between digits.
func dropUnderscores(s string) (string, bool) {
	if !strings.Contains(s, "_") {
		return s, true
	}
	for i := 0; i < len(s); i++ {
		if s[i] == '_' && (i == 0 || i == len(s)-1 || !alphanumeric(s[i-1]) || !alphanumeric(s[i+1])) {
			return "", false
		}
	}
	return strings.ReplaceAll(s, "_", ""), true
}

func alphanumeric(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// Round returns round(v, digits), which rounds halves to even.
func Round(t *Thread, v, digits Value) Value {
	n, ok := integer(digits)
	if !ok && digits != nil {
		Raise(TypeError, "'%s' object cannot be interpreted as an integer", TypeName(digits))
	}
	if i, ok := integer(v); ok {
		if digits == nil {
			return i
		}
		return roundInt(t, i, n)
	}
	f, ok := v.(float64)
	if !ok {
		Raise(TypeError, "type %s doesn't define __round__ method", TypeName(v))
	}
	if digits == nil {
		return Int(t, math.RoundToEven(f))
	}
	places, fits := n.(int)
	switch {
	case math.IsInf(f, 0) || math.IsNaN(f) || !fits && toBig(n).Sign() > 0 || places > 323:
		return f
	case !fits || places < -308:
		return math.Copysign(0, f)
	case places >= 0:
		r, _ := strconv.ParseFloat(strconv.FormatFloat(f, 'f', places, 64), 64)
		return r
	}
	return roundTens(f, places)
}

// roundTens rounds f to tens, hundreds, ...: exactly, halves to even.
func roundTens(f float64, places int) float64 {
	unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(-places)), nil)
	exact, _ := new(big.Float).SetFloat64(f).Rat(nil)
	scaled := new(big.Rat).Quo(exact, new(big.Rat).SetInt(unit))
	whole := roundHalfEven(scaled.Num(), scaled.Denom())
	r, _ := new(big.Float).SetInt(whole.Mul(whole, unit)).Float64()
	if math.IsInf(r, 0) {
		Raise(OverflowError, "rounded value too large to represent")
	}
	if r == 0 {
		return math.Copysign(0, f)
	}
	return r
}

func roundInt(t *Thread, i, digits Value) Value {
	n, fits := digits.(int)
	if fits && n >= 0 || !fits && toBig(digits).Sign() > 0 {
		return i
	}
	if !fits || -n > 4*maxDigits {
		return 0
	}
	t.Spend(-n)
	unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(-n)), nil)
	whole := roundHalfEven(toBig(i), unit)
	return normal(whole.Mul(whole, unit))
}

// roundHalfEven returns the integer nearest to a / b, for b above zero.
func roundHalfEven(a, b *big.Int) *big.Int {
	q, r := new(big.Int).DivMod(a, b, new(big.Int))
	switch twice := r.Lsh(r, 1).Cmp(b); {
	case twice > 0 || twice == 0 && q.Bit(0) == 1:
		return q.Add(q, big.NewInt(1))
	}
	return q
}
