package strictjson

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// Canonical writes the value of data in the one form that all texts of equal
// meaning share, for fingerprints and digests:
//
//   - keys of an object sorted by code point, arrays in their order, no blanks;
//   - strings as they are (not normalised), with the fewest escapes;
//   - numbers as exact decimals, digits without outer zeros and an exponent of
//     ten where it is not 0: 1, 1.0 and 1e0 are 1, -0 is 0, 1200 is 12e2.
//     9007199254740993 stays apart from 9007199254740992.
//
// This is not RFC 8785, which sends numbers through binary floats. Data is read
// with the default limits; the error is an *Error.
func Canonical(data []byte) ([]byte, error) {
	return CanonicalWithin(data, Defaults)
}

// CanonicalWithin is Canonical with other limits.
func CanonicalWithin(data []byte, limits Limits) ([]byte, error) {
	v, err := Decode(data, limits)
	if err != nil {
		return nil, err
	}
	return AppendCanonical(make([]byte, 0, len(data)), v), nil
}

// AppendCanonical appends the canonical form of v, a value as Decode returns it.
func AppendCanonical(to []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(to, "null"...)
	case bool:
		return strconv.AppendBool(to, v)
	case json.Number:
		return append(to, CanonicalNumber(v)...)
	case string:
		return appendString(to, v)
	case []any:
		to = append(to, '[')
		for i, e := range v {
			if i > 0 {
				to = append(to, ',')
			}
			to = AppendCanonical(to, e)
		}
		return append(to, ']')
	case map[string]any:
		names := make([]string, 0, len(v))
		for k := range v {
			names = append(names, k)
		}
		slices.Sort(names) // bytes of UTF-8 sort as code points do
		to = append(to, '{')
		for i, k := range names {
			if i > 0 {
				to = append(to, ',')
			}
			to = append(appendString(to, k), ':')
			to = AppendCanonical(to, v[k])
		}
		return append(to, '}')
	}
	panic("strictjson: AppendCanonical: not a value that Decode returns")
}

// CanonicalNumber writes a JSON number as its exact decimal, as Canonical does.
// n must be a number as Decode returns it.
func CanonicalNumber(n json.Number) string {
	digits, exponent, negative := decimal(string(n))
	if digits == "0" {
		return "0"
	}
	if negative {
		digits = "-" + digits
	}
	if exponent != 0 {
		digits += "e" + strconv.Itoa(exponent)
	}
	return digits
}

// decimal takes a JSON number apart: digits without outer zeros, and the
// exponent of ten of the last one. Zero is "0". An exponent beyond 18 digits,
// which no limit lets through, is cut.
func decimal(text string) (digits string, exponent int, negative bool) {
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		exponent, _ = strconv.Atoi(strings.TrimPrefix(text[i+1:], "+"))
		exponent = max(min(exponent, 1<<40), -1<<40)
		text = text[:i]
	}
	text, negative = strings.CutPrefix(text, "-")
	whole, fraction, _ := strings.Cut(text, ".")
	exponent -= len(fraction)
	all := strings.TrimLeft(whole+fraction, "0")
	if all == "" {
		return "0", 0, false
	}
	digits = strings.TrimRight(all, "0")
	return digits, exponent + len(all) - len(digits), negative
}

func appendString(to []byte, s string) []byte {
	const hex = "0123456789abcdef"
	to = append(to, '"')
	from := 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= 0x20 && c != '"' && c != '\\' {
			continue
		}
		to = append(to, s[from:i]...)
		if c < 0x20 {
			to = append(to, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		} else {
			to = append(to, '\\', c)
		}
		from = i + 1
	}
	return append(append(to, s[from:]...), '"')
}
