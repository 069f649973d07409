package strictjson_test

import (
	"encoding/json"
	"fmt"
	"math/big"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/interlock-harness/interlock/providers/strictjson"
)

func canonical(t testing.TB, in string) string {
	t.Helper()
	out, err := strictjson.Canonical([]byte(in))
	if err != nil {
		t.Fatalf("%q: %v", in, err)
	}
	return string(out)
}

func TestCanonicalOfEqualAndDifferentMeanings(t *testing.T) {
	equal := [][]string{
		{"1", "1.0", "1e0", "10e-1", "0.1e1", "1.000"},
		{"0", "-0", "0.0", "-0.0e5", "0e400"},
		{"100", "1e2", "1.0E+2"},
		{"-12.5", "-125e-1", "-0.125e2"},
		{`{"b":1,"a":2}`, ` { "a" : 2.0 , "b" : 1 } `},
		{`"é/"`, `"\u00e9\/"`},
		{`"\n"`, `"\u000a"`, `"\u000A"`},
		{`"😀"`, `"\ud83d\ude00"`},
	}
	seen := map[string]string{}
	for _, group := range equal {
		want := canonical(t, group[0])
		for _, in := range group[1:] {
			if got := canonical(t, in); got != want {
				t.Errorf("%s gives %s, %s gives %s", group[0], want, in, got)
			}
		}
		if other, ok := seen[want]; ok {
			t.Errorf("%s and %s share %s", other, group[0], want)
		}
		seen[want] = group[0]
	}
	different := []string{
		"9007199254740993", "9007199254740992", "0.1", "0.10000000000000000001", "1e400", "1e399",
		"null", "{}", "[]", `""`, `"1"`, "2", "[1,2]", "[2,1]", `{"a":null}`, `{"a":1}`, `{"A":1}`,
		`"e\u0301"`, `"E"`, "true", "false", `[[1],2]`, `[[1,2]]`,
	}
	for _, in := range different {
		out := canonical(t, in)
		if other, ok := seen[out]; ok {
			t.Errorf("%s and %s share %s", other, in, out)
		}
		seen[out] = in
	}
}

func TestCanonicalSortsByCodePoint(t *testing.T) {
	// UTF-16 order, as in RFC 8785, would put U+1F600 before U+FB01.
	in := `{"😀":1,"ﬁ":2,"é":3,"Z":4,"a":5,"":6,"aa":7}`
	want := `{"":6,"Z":4,"a":5,"aa":7,"é":3,"ﬁ":2,"😀":1}`
	if got := canonical(t, in); got != want {
		t.Errorf("got %s", got)
	}
}

// spelling draws one JSON text of v: blanks, order, escapes and the writing of
// numbers are free.
func spelling(t *rapid.T, v any) string {
	blank := rapid.SampledFrom([]string{"", " ", "\n", "\t ", "\r\n"}).Draw(t, "blank")
	switch v := v.(type) {
	case *big.Rat:
		return blank + spellNumber(t, v) + blank
	case string:
		return blank + spellString(t, v)
	case []any:
		parts := make([]string, len(v))
		for i, e := range v {
			parts[i] = spelling(t, e)
		}
		return "[" + blank + strings.Join(parts, ",") + "]"
	case map[string]any:
		names := make([]string, 0, len(v))
		for k := range v {
			names = append(names, k)
		}
		parts := []string{}
		for _, k := range rapid.Permutation(names).Draw(t, "order") {
			parts = append(parts, spellString(t, k)+blank+":"+spelling(t, v[k]))
		}
		return "{" + strings.Join(parts, ","+blank) + "}" + blank
	}
	out, _ := json.Marshal(v)
	return string(out)
}

func spellNumber(t *rapid.T, r *big.Rat) string {
	zeros := rapid.IntRange(0, 3).Draw(t, "zeros")
	shift := rapid.IntRange(-4, 4).Draw(t, "shift")
	scale := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(shift, -shift))), nil))
	moved := new(big.Rat)
	if shift < 0 {
		moved.Mul(r, scale)
	} else {
		moved.Quo(r, scale)
	}
	text := moved.FloatString(12 + zeros)
	if r.Sign() == 0 && rapid.Bool().Draw(t, "minus") {
		text = "-" + text
	}
	return fmt.Sprintf("%se%+d", text, shift)
}

func spellString(t *rapid.T, s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		if r < 0x10000 && (r < 0x20 || r == '"' || r == '\\' || rapid.Bool().Draw(t, "escape")) {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String() + `"`
}

func anyValue() *rapid.Generator[any] {
	return rapid.Custom(func(t *rapid.T) any { return draw(t, 3) })
}

func draw(t *rapid.T, depth int) any {
	kinds := 5
	if depth > 0 {
		kinds = 7
	}
	text := rapid.StringOfN(rapid.RuneFrom([]rune{'a', 'b', 'é', '€', '😀', '"', '\\', '\n', '/'}), 0, 4, -1)
	switch rapid.IntRange(0, kinds-1).Draw(t, "kind") {
	case 0:
		return nil
	case 1:
		return rapid.Bool().Draw(t, "bool")
	case 2, 3:
		return big.NewRat(rapid.Int64().Draw(t, "n"), rapid.SampledFrom([]int64{1, 10, 1000, 10000}).Draw(t, "d"))
	case 4:
		return text.Draw(t, "s")
	case 5:
		out := []any{}
		for range rapid.IntRange(0, 3).Draw(t, "len") {
			out = append(out, draw(t, depth-1))
		}
		return out
	}
	out := map[string]any{}
	for range rapid.IntRange(0, 3).Draw(t, "len") {
		out[text.Draw(t, "k")] = draw(t, depth-1)
	}
	return out
}

func same(a, b any) bool {
	switch a := a.(type) {
	case *big.Rat:
		b, ok := b.(*big.Rat)
		return ok && a.Cmp(b) == 0
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for i := range a {
			if !same(a[i], b[i]) {
				return false
			}
		}
		return true
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for k := range a {
			if w, ok := b[k]; !ok || !same(a[k], w) {
				return false
			}
		}
		return true
	}
	return reflect.DeepEqual(a, b)
}

func TestCanonicalIsEqualForEverySpelling(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := anyValue().Draw(t, "v")
		one, err := strictjson.Canonical([]byte(spelling(t, v)))
		if err != nil {
			t.Fatal(err)
		}
		two, err := strictjson.Canonical([]byte(spelling(t, v)))
		if err != nil {
			t.Fatal(err)
		}
		if string(one) != string(two) {
			t.Fatalf("%s\n%s", one, two)
		}
		again, err := strictjson.Canonical(one)
		if err != nil || string(again) != string(one) {
			t.Fatalf("not idempotent: %s gives %s, %v", one, again, err)
		}
	})
}

func TestCanonicalDiffersForEveryDifference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := anyValue().Draw(t, "a"), anyValue().Draw(t, "b")
		one, err1 := strictjson.Canonical([]byte(spelling(t, a)))
		two, err2 := strictjson.Canonical([]byte(spelling(t, b)))
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		if (string(one) == string(two)) != same(a, b) {
			t.Fatalf("%v and %v give %s and %s", a, b, one, two)
		}
	})
}
