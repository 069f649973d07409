package python

import (
	"math"
	"strconv"
	"strings"
)

// formatFloat returns the digits of f without a sign, as the conversions e, f
// and g (or E, F, G) of printf and of format specifications write them. alt
// keeps the decimal point, and for g the zeros behind it.
func formatFloat(t *Thread, f float64, verb rune, precision int, alt bool) (negative bool, digits string) {
	negative = math.Signbit(f) && !math.IsNaN(f)
	f = math.Abs(f)
	upper := verb < 'a'
	switch {
	case math.IsNaN(f):
		digits = "nan"
	case math.IsInf(f, 0):
		digits = "inf"
	default:
		t.Text(precision)
		switch verb | 0x20 {
		case 'e':
			digits = strconv.FormatFloat(f, 'e', precision, 64)
			if alt && precision == 0 {
				digits = strings.Replace(digits, "e", ".e", 1)
			}
		case 'f':
			digits = strconv.FormatFloat(f, 'f', precision, 64)
			if alt && precision == 0 {
				digits += "."
			}
		default:
			digits = general(f, max(precision, 1), alt, -4, max(precision, 1))
		}
	}
	if upper {
		digits = strings.ToUpper(digits)
	}
	return negative, digits
}

// general is the conversion g: precision significant digits, with an exponent
// when that is below low or not below high.
func general(f float64, precision int, alt bool, low, high int) string {
	mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(f, 'e', precision-1, 64), "e")
	e, _ := strconv.Atoi(exponent)
	if e < low || e >= high {
		if !alt {
			mantissa = dropZeros(mantissa)
		} else if precision == 1 {
			mantissa += "."
		}
		return mantissa + "e" + exponent
	}
	s := strconv.FormatFloat(f, 'f', max(precision-1-e, 0), 64)
	if !alt {
		return dropZeros(s)
	}
	if !strings.Contains(s, ".") {
		s += "."
	}
	return s
}

func dropZeros(s string) string {
	if !strings.Contains(s, ".") {
		return s
	}
	return strings.TrimRight(strings.TrimRight(s, "0"), ".")
}
