package httpapi_test

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// number is digits times ten to the power of exponent, without zeros at the end of
// digits: two numbers mean the same when they are equal.
type number struct {
	digits   int64
	exponent int
}

func drawNumber(t *rapid.T) number {
	n := number{rapid.Int64().Draw(t, "digits"), rapid.IntRange(-20, 20).Draw(t, "exponent")}
	for n.digits != 0 && n.digits%10 == 0 {
		n.digits, n.exponent = n.digits/10, n.exponent+1
	}
	if n.digits == 0 {
		n.exponent = 0
	}
	return n
}

// drawText likes what is easily taken for something else.
var drawText = rapid.StringOfN(rapid.SampledFrom([]rune("aAzé\u0301e\u00e9İıK\u212aﬁ€😀\"\\/\n\u2028 1")), 0, 5, -1)

func drawMeaning(t *rapid.T, depth int) any {
	switch kind := rapid.IntRange(0, 6).Draw(t, "kind"); {
	case kind == 0:
		return nil
	case kind == 1:
		return rapid.Bool().Draw(t, "bool")
	case kind == 2 || depth == 0 && kind > 4:
		return drawNumber(t)
	case kind <= 4:
		return drawText.Draw(t, "text")
	case kind == 5:
		list := []any{}
		for range rapid.IntRange(0, 3).Draw(t, "length") {
			list = append(list, drawMeaning(t, depth-1))
		}
		return list
	}
	return drawObject(t, depth)
}

func drawObject(t *rapid.T, depth int) map[string]any {
	object := map[string]any{}
	for range rapid.IntRange(0, 3).Draw(t, "members") {
		object[drawText.Draw(t, "name")] = drawMeaning(t, depth-1)
	}
	return object
}

// drawIntent draws what a client submits. Each optional field may be absent, or
// stand there with its default.
func drawIntent(t *rapid.T) any {
	intent := map[string]any{"contract": "triage", "provider": "p", "input": drawObject(t, 3)}
	for name, values := range map[string][]any{
		"race": {false, true}, "deadline_ms": {number{3, 4}, number{1, 0}, nil}, "failover": {nil, map[string]any{"mode": "manual"}}, "params": {nil, map[string]any{}},
	} {
		if rapid.Bool().Draw(t, name) {
			intent[name] = rapid.SampledFrom(values).Draw(t, "value")
		}
	}
	return map[string]any{"intent": intent}
}

// spell writes one of the many JSON texts that mean v.
func spell(t *rapid.T, v any) string {
	blank := rapid.SampledFrom([]string{"", " ", "\n", "\t ", "\r\n"}).Draw(t, "blank")
	switch v := v.(type) {
	case number:
		return blank + spellNumber(t, v) + blank
	case string:
		return spellText(t, v) + blank
	case []any:
		var elements []string
		for _, e := range v {
			elements = append(elements, spell(t, e))
		}
		return "[" + blank + strings.Join(elements, ",") + "]" + blank
	case map[string]any:
		var members []string
		for _, name := range rapid.Permutation(slices.Sorted(maps.Keys(v))).Draw(t, "order") {
			members = append(members, blank+spellText(t, name)+blank+":"+spell(t, v[name]))
		}
		return "{" + strings.Join(members, ",") + blank + "}"
	case nil:
		return "null"
	}
	return fmt.Sprint(v) + blank
}

func spellNumber(t *rapid.T, n number) string {
	digits, sign := strconv.FormatInt(n.digits, 10), ""
	if rest, negative := strings.CutPrefix(digits, "-"); negative {
		digits, sign = rest, "-"
	}
	if n.digits == 0 {
		return rapid.SampledFrom([]string{"0", "-0", "0.0", "0e5", "-0.00E-3", "0e+0"}).Draw(t, "zero")
	}
	more := rapid.IntRange(0, 3).Draw(t, "zeros")
	digits += strings.Repeat("0", more)
	point := rapid.IntRange(0, len(digits)-1).Draw(t, "point")
	exponent := n.exponent - more + point
	text := sign + digits[:len(digits)-point]
	if point > 0 {
		text += "." + digits[len(digits)-point:] + strings.Repeat("0", rapid.IntRange(0, 2).Draw(t, "more zeros"))
	}
	if exponent != 0 || rapid.Bool().Draw(t, "e0") {
		text += fmt.Sprintf(rapid.SampledFrom([]string{"e%d", "E%d", "e%+d"}).Draw(t, "e"), exponent)
	}
	return text
}

func spellText(t *rapid.T, s string) string {
	var b strings.Builder
	for _, r := range s {
		short, has := map[rune]string{'"': `\"`, '\\': `\\`, '/': `\/`, '\n': `\n`}[r]
		must := r < ' ' || r == '"' || r == '\\'
		switch how := rapid.IntRange(0, 2).Draw(t, "how"); {
		case has && how == 0:
			b.WriteString(short)
		case !must && how < 2:
			b.WriteRune(r)
		case r > 0xffff:
			fmt.Fprintf(&b, `\u%04x\u%04X`, 0xd800+(r-0x10000)>>10, 0xdc00+(r-0x10000)&0x3ff)
		default:
			fmt.Fprintf(&b, rapid.SampledFrom([]string{`\u%04x`, `\u%04X`}).Draw(t, "hex"), r)
		}
	}
	return `"` + b.String() + `"`
}

// other returns v with one difference of meaning somewhere, a small one.
func other(t *rapid.T, v any) any {
	switch v := v.(type) {
	case nil:
		return rapid.SampledFrom([]any{false, "", number{}, []any{}, map[string]any{}, "null"}).Draw(t, "for null")
	case bool:
		return rapid.SampledFrom([]any{!v, fmt.Sprint(v)}).Draw(t, "for a flag")
	case number:
		near := number{v.digits ^ 1, v.exponent}
		if near.digits%10 == 0 { // not the same number in other words
			near = number{v.digits, v.exponent + 1}
		}
		if v.digits == 0 {
			near = number{1, -20}
		}
		return rapid.SampledFrom([]any{near, number{-v.digits - 1, 0}, strconv.FormatInt(v.digits, 10)}).Draw(t, "for a number")
	case string:
		for _, s := range rapid.Permutation([]string{strings.ToUpper(v), strings.ToLower(v), strings.ReplaceAll(v, "\u00e9", "e\u0301"), strings.TrimSpace(v)}).Draw(t, "for a text") {
			if s != v {
				return s
			}
		}
		return v + " "
	case []any:
		if i := slices.IndexFunc(v, func(e any) bool { return !reflect.DeepEqual(e, v[0]) }); i > 0 && rapid.Bool().Draw(t, "swap") {
			swapped := slices.Clone(v)
			swapped[0], swapped[i] = swapped[i], swapped[0]
			return swapped
		}
		if len(v) > 0 && rapid.Bool().Draw(t, "within") {
			changed := slices.Clone(v)
			i := rapid.IntRange(0, len(v)-1).Draw(t, "element")
			changed[i] = other(t, v[i])
			return changed
		}
		return append(slices.Clone(v), nil)
	}
	object := maps.Clone(v.(map[string]any))
	names := slices.Sorted(maps.Keys(object))
	free := func(name string) bool { _, taken := object[name]; return !taken }
	if len(names) > 0 {
		name := rapid.SampledFrom(names).Draw(t, "member")
		switch rapid.IntRange(0, 3).Draw(t, "how") {
		case 0: // absent is not null, and not the default
			delete(object, name)
			return object
		case 1, 2:
			object[name] = other(t, object[name])
			return object
		}
		if renamed := other(t, name).(string); free(renamed) {
			object[renamed] = object[name]
			delete(object, name)
			return object
		}
	}
	added := "race"
	for !free(added) {
		added += "x"
	}
	object[added] = rapid.SampledFrom([]any{nil, false}).Draw(t, "added")
	return object
}

func TestEqualMeaningsHaveEqualFingerprints(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := drawIntent(t)
		one, two := spell(t, v), spell(t, v)
		a, okA := fingerprintOf(one)
		b, okB := fingerprintOf(two)
		if !okA || !okB || a != b {
			t.Fatalf("taken %v and %v, equal %v:\n%s\n%s", okA, okB, a == b, one, two)
		}
	})
}

func TestOtherMeaningsHaveOtherFingerprints(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := drawIntent(t)
		w := other(t, v)
		if reflect.DeepEqual(v, w) {
			t.Fatalf("the test drew no other meaning: %v", v)
		}
		one, two := spell(t, v), spell(t, w)
		a, okA := fingerprintOf(one)
		b, okB := fingerprintOf(two)
		if !okA || !okB || a == b {
			t.Fatalf("taken %v and %v, equal %v:\n%s\n%s", okA, okB, a == b, one, two)
		}
	})
}
