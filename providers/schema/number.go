package schema

import (
	"encoding/json"
	"math/big"
	"strconv"
	"strings"

	"github.com/interlock-harness/interlock/providers/strictjson"
)

// small reads a number that is written as a plain integer of few digits; such
// numbers need no big arithmetic.
func small(n json.Number) (int64, bool) {
	if len(n) > 18 {
		return 0, false
	}
	i, err := strconv.ParseInt(string(n), 10, 64)
	return i, err == nil
}

// whole reports whether n is an integer by value: 12, 12.0 and 1.2e1 are.
func whole(n json.Number) bool {
	if _, ok := small(n); ok || !strings.ContainsAny(string(n), ".eE") {
		return true
	}
	canonical := strictjson.CanonicalNumber(n)
	_, exponent, found := strings.Cut(canonical, "e")
	return !found || exponent[0] != '-'
}

func exact(n json.Number) *big.Rat {
	r, ok := new(big.Rat).SetString(string(n))
	if !ok {
		panic("schema: not a number: " + string(n))
	}
	return r
}

func compare(n json.Number, bound *big.Rat) int {
	if i, ok := small(n); ok && bound.IsInt() && bound.Num().IsInt64() {
		b := bound.Num().Int64()
		switch {
		case i < b:
			return -1
		case i > b:
			return 1
		}
		return 0
	}
	return exact(n).Cmp(bound)
}

func multiple(n json.Number, of *big.Rat) bool {
	if i, ok := small(n); ok && of.IsInt() && of.Num().IsInt64() {
		return i%of.Num().Int64() == 0
	}
	return new(big.Rat).Quo(exact(n), of).IsInt()
}

// equal compares JSON values, numbers by value.
func equal(a, b any) bool {
	switch a := a.(type) {
	case json.Number:
		b, ok := b.(json.Number)
		return ok && (a == b || strictjson.CanonicalNumber(a) == strictjson.CanonicalNumber(b))
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for i := range a {
			if !equal(a[i], b[i]) {
				return false
			}
		}
		return true
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for k, v := range a {
			if w, there := b[k]; !there || !equal(v, w) {
				return false
			}
		}
		return true
	}
	switch b.(type) {
	case []any, map[string]any:
		return false
	}
	return a == b
}

// repeated returns the first item that equals an earlier one.
func repeated(v []any) (int, bool) {
	if len(v) < 2 {
		return 0, false
	}
	seen := make(map[string]struct{}, len(v))
	var text []byte
	for i, item := range v {
		text = strictjson.AppendCanonical(text[:0], item)
		if _, twice := seen[string(text)]; twice {
			return i, true
		}
		seen[string(text)] = struct{}{}
	}
	return 0, false
}
