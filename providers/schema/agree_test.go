package schema

import (
	"encoding/json"
	"testing"

	"pgregory.net/rapid"

	"github.com/interlock-harness/interlock/providers/strictjson"
)

// drawSchema draws a schema of the keywords that the walk covers, over few names
// and values, so that schemas and values meet.
func drawSchema(t *rapid.T, depth int) any {
	if rapid.IntRange(0, 15).Draw(t, "always") == 0 {
		return rapid.Bool().Draw(t, "bool")
	}
	s := map[string]any{}
	sub := func() any {
		if depth == 0 {
			return true
		}
		return drawSchema(t, depth-1)
	}
	subs := func() []any {
		out := []any{}
		for range rapid.IntRange(1, 3).Draw(t, "subs") {
			out = append(out, sub())
		}
		return out
	}
	name := rapid.SampledFrom([]string{"a", "b", "c"})
	number := rapid.SampledFrom([]string{"0", "1", "2", "2.5", "10", "9007199254740993"})
	put := map[string]func() any{
		"type": func() any {
			return rapid.SampledFrom([]any{"object", "array", "string", "integer", "number", "null", []any{"string", "null"}}).Draw(t, "type")
		},
		"enum":                 func() any { return []any{drawValue(t, 1), drawValue(t, 1)} },
		"const":                func() any { return drawValue(t, 1) },
		"required":             func() any { return []any{name.Draw(t, "r")} },
		"properties":           func() any { return map[string]any{name.Draw(t, "p"): sub(), name.Draw(t, "p"): sub()} },
		"additionalProperties": sub,
		"patternProperties":    func() any { return map[string]any{"^[ab]$": sub()} },
		"propertyNames":        func() any { return map[string]any{"enum": []any{"a", "b"}} },
		"minProperties":        func() any { return json.Number("1") },
		"maxProperties":        func() any { return json.Number("1") },
		"dependentRequired":    func() any { return map[string]any{"a": []any{"b"}} },
		"dependentSchemas":     func() any { return map[string]any{"a": sub()} },
		"items":                sub,
		"prefixItems":          func() any { return subs() },
		"contains":             sub,
		"minContains":          func() any { return json.Number("2") },
		"maxContains":          func() any { return json.Number("1") },
		"minItems":             func() any { return json.Number("1") },
		"maxItems":             func() any { return json.Number("2") },
		"uniqueItems":          func() any { return true },
		"minimum":              func() any { return json.Number(number.Draw(t, "n")) },
		"exclusiveMaximum":     func() any { return json.Number(number.Draw(t, "n")) },
		"multipleOf":           func() any { return json.Number(rapid.SampledFrom([]string{"1", "2", "0.5"}).Draw(t, "m")) },
		"minLength":            func() any { return json.Number("1") },
		"maxLength":            func() any { return json.Number("1") },
		"pattern":              func() any { return "^a" },
		"format":               func() any { return rapid.SampledFrom([]string{"date", "ipv4", "email"}).Draw(t, "f") },
		"allOf":                func() any { return subs() },
		"anyOf":                func() any { return subs() },
		"oneOf":                func() any { return subs() },
		"not":                  sub,
		"if":                   sub,
		"then":                 sub,
		"else":                 sub,
	}
	names := sortedKeys(put)
	for range rapid.IntRange(0, 4).Draw(t, "keywords") {
		k := rapid.SampledFrom(names).Draw(t, "keyword")
		s[k] = put[k]()
	}
	return s
}

func drawValue(t *rapid.T, depth int) any {
	kinds := 6
	if depth > 0 {
		kinds = 9
	}
	switch rapid.IntRange(0, kinds-1).Draw(t, "kind") {
	case 0:
		return nil
	case 1:
		return rapid.Bool().Draw(t, "b")
	case 2, 3:
		return json.Number(rapid.SampledFrom([]string{"0", "1", "1.0", "2", "2.5", "10", "1e1", "-1", "9007199254740993", "9007199254740992"}).Draw(t, "n"))
	case 4, 5:
		return rapid.SampledFrom([]string{"", "a", "b", "ab", "2026-01-02", "1.2.3.4", "മ"}).Draw(t, "s")
	case 6:
		out := []any{}
		for range rapid.IntRange(0, 3).Draw(t, "len") {
			out = append(out, drawValue(t, depth-1))
		}
		return out
	}
	out := map[string]any{}
	for range rapid.IntRange(0, 3).Draw(t, "len") {
		out[rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(t, "k")] = drawValue(t, depth-1)
	}
	return out
}

// TestWalkAndLibraryAgree: over the keywords that the walk covers it says valid
// exactly when the library does, and a fault has a place that exists.
func TestWalkAndLibraryAgree(t *testing.T) {
	valid, invalid := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		source := drawSchema(t, 2)
		s, err := Compile(strictjson.AppendCanonical(nil, source))
		if err != nil {
			t.Fatalf("%s: %v", strictjson.AppendCanonical(nil, source), err)
		}
		if !s.complete {
			t.Fatal("a schema of covered keywords counts as partial")
		}
		for range 5 {
			v := drawValue(t, 2)
			walk, library := s.find(v), s.root.Validate(v)
			if (walk == nil) != (library == nil) {
				t.Fatalf("%s\non %s: walk %+v, library %v", strictjson.AppendCanonical(nil, source), strictjson.AppendCanonical(nil, v), walk, library)
			}
			if walk == nil {
				valid++
			} else {
				invalid++
			}
		}
	})
	if valid == 0 || invalid == 0 {
		t.Errorf("%d valid and %d invalid values: one side was never seen", valid, invalid)
	}
}

// FuzzCheck: no schema and no value makes the wrapper panic or disagree with
// itself.
func FuzzCheck(f *testing.F) {
	f.Add([]byte(`{"type":"integer","maximum":5}`), []byte(`1e1000001`))
	f.Add([]byte(`{"multipleOf":0.01,"enum":[1.0]}`), []byte(`1`))
	f.Add([]byte(`{"properties":{"a":{"$ref":"#"}},"unevaluatedProperties":false}`), []byte(`{"a":{"b":1}}`))
	f.Add([]byte(`{"uniqueItems":true,"items":{"pattern":"a\\u0041"}}`), []byte(`["a",1,1.0]`))
	f.Fuzz(func(t *testing.T, source, value []byte) {
		s, err := Compile(source)
		if err != nil {
			return
		}
		v, err := strictjson.Decode(value, strictjson.Limits{})
		if err != nil {
			return
		}
		first, second := s.Check(v), s.Check(v)
		if (first == nil) != (second == nil) {
			t.Fatalf("%+v and then %+v", first, second)
		}
		s.Invented(v)
		s.Lint()
		if first == nil && s.root.Validate(v) != nil && size(v, largeValue) < largeValue {
			t.Fatalf("the library objects: %v", s.root.Validate(v))
		}
	})
}
