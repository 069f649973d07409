package python

import (
	"math"
	"math/big"
	"strings"
	"unicode"
)

// Int returns int(v): of a number, cut towards zero, or of decimal text.
// It raises TypeError, ValueError or OverflowError.
func Int(t *Thread, v Value) Value {
	if i, ok := integer(v); ok {
		return i
	}
	if f, ok := v.(float64); ok {
		if math.IsNaN(f) {
			Raise(ValueError, "cannot convert float NaN to integer")
		}
		if math.IsInf(f, 0) {
			Raise(OverflowError, "cannot convert float infinity to integer")
		}
		return floatToInt(f)
	}
	if s, ok := Text(v); ok {
		return IntBase(t, s, 10)
	}
	if b, ok := v.(Bytes); ok {
		return IntBase(t, string(b), 10)
	}
	mustDefined(v)
	Raise(TypeError, "int() argument must be a string, a bytes-like object or a real number, not '%s'", TypeName(v))
	return nil
}

// IntBase returns int(text, base): base 2 to 36, or 0 to read 0x, 0o and 0b.
func IntBase(t *Thread, text string, base int) Value {
	if base != 0 && (base < 2 || base > 36) {
		Raise(ValueError, "int() base must be >= 2 and <= 36, or 0")
	}
	digits := strings.TrimFunc(text, IsSpace)
	i, ok := parseInt(t, decimalDigits(digits), base)
	if !ok {
		Raise(ValueError, "invalid literal for int() with base %d: %s", base, quote(text))
	}
	return i
}

func parseInt(t *Thread, s string, base int) (Value, bool) {
	negative := strings.HasPrefix(s, "-")
	if negative || strings.HasPrefix(s, "+") {
		s = s[1:]
	}
	s, base, ok := basePrefix(s, base)
	if !ok {
		return nil, false
	}
	s, ok = dropUnderscores(s)
	if !ok || s == "" {
		return nil, false
	}
	t.Spend(len(s))
	if len(s) > maxDigits && base&(base-1) != 0 {
		for i := 0; i < len(s); i++ {
			if !alphanumeric(s[i]) {
				return nil, false
			}
		}
		Raise(ValueError, "Exceeds the limit (%d digits) for integer string conversion: value has %d digits; use sys.set_int_max_str_digits() to increase the limit", maxDigits, len(s))
	}
	if !alphanumeric(s[0]) {
		return nil, false
	}
	b, ok := new(big.Int).SetString(s, base)
	if !ok {
		return nil, false
	}
	if negative {
		b.Neg(b)
	}
	return normal(b), true
}

// basePrefix takes 0x, 0o or 0b off s where base allows it. Base 0 without a
// prefix is decimal and then allows no leading zero.
func basePrefix(s string, base int) (rest string, found int, ok bool) {
	if len(s) > 1 && s[0] == '0' {
		for letter, b := range map[byte]int{'x': 16, 'o': 8, 'b': 2} {
			if s[1]|0x20 == letter && (base == b || base == 0) {
				return strings.TrimPrefix(s[2:], "_"), b, true
			}
		}
	}
	if base == 0 {
		zeros := strings.Trim(s, "0_") == ""
		return s, 10, zeros || !strings.HasPrefix(s, "0")
	}
	return s, base, true
}

// decimalDigits replaces other scripts' decimal digits by ASCII ones, as int
// and float do.
func decimalDigits(s string) string {
	if isASCII(s) {
		return s
	}
	return strings.Map(func(r rune) rune {
		if d := decimalValue(r); d >= 0 {
			return '0' + rune(d)
		}
		return r
	}, s)
}

// decimalValue returns 0 to 9 for a decimal digit of any script, else -1.
// Such digits stand in runs of ten in Unicode.
func decimalValue(r rune) int {
	if r < 0x80 {
		if r >= '0' && r <= '9' {
			return int(r - '0')
		}
		return -1
	}
	if !unicode.Is(unicode.Nd, r) {
		return -1
	}
	zero := r
	for unicode.Is(unicode.Nd, zero-1) && r-zero < 9 {
		zero--
	}
	if r >= 0x1d7ce && r <= 0x1d7ff { // five mathematical runs without a gap
		return int(r-0x1d7ce) % 10
	}
	return int(r - zero)
}

// Index returns v as a Python index (operator.index): an int or a bool.
// It raises TypeError for other types; large values are cut to the range of
// int, which every caller takes for "beyond the end".
func Index(v Value) int {
	i, ok := integer(v)
	if !ok {
		Raise(TypeError, "'%s' object cannot be interpreted as an integer", TypeName(v))
	}
	if n, ok := i.(int); ok {
		return n
	}
	if i.(*big.Int).Sign() < 0 {
		return math.MinInt
	}
	return math.MaxInt
}

// Size returns v as a size that C code takes (Py_ssize_t): like Index, but too
// large is an OverflowError.
func Size(v Value) int {
	i, ok := integer(v)
	if !ok {
		Raise(TypeError, "'%s' object cannot be interpreted as an integer", TypeName(v))
	}
	n, ok := i.(int)
	if !ok {
		Raise(OverflowError, "Python int too large to convert to C ssize_t")
	}
	return n
}
