package strictjson_test

import (
	"testing"

	"github.com/interlock-harness/interlock/providers/strictjson"
)

func read(t *testing.T, in string) strictjson.Raw {
	t.Helper()
	r, err := strictjson.Read([]byte(in), strictjson.Lenient)
	if err != nil {
		t.Fatalf("%s: %v", in, err)
	}
	return r
}

func TestRawPicksValuesAsSent(t *testing.T) {
	r := read(t, ` { "a" : {"x":[1, 2.50 ,"]}\"\\"],"y":{}} ,"b":null,"\u0063":"q\u00e9\n","a2":[],"d":true,"e":-1.5e3,"b2" : "" } `)
	for path, want := range map[string]string{
		"a": `{"x":[1, 2.50 ,"]}\"\\"],"y":{}}`, "b": "null", "c": `"q\u00e9\n"`, "a2": "[]", "d": "true", "e": "-1.5e3", "b2": `""`, "zz": "", "A": "",
	} {
		if got := string(r.Get(path)); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
	list := r.Get("a").Get("x")
	for i, want := range []string{"1", "2.50", `"]}\"\\"`, ""} {
		if got := string(list.At(i)); got != want {
			t.Errorf("element %d: %s", i, got)
		}
	}
	if r.Get("c").Text() != "qé\n" || r.Get("e").Text() != "" || r.Get("e").Number() != "-1.5e3" || r.Get("c").Number() != "" {
		t.Error("text or number wrong")
	}
	if r.Get("b").Present() || r.Get("zz").Present() || !r.Get("d").Present() {
		t.Error("absent, null and present are mixed up")
	}
}

func TestRawTakesTheLastOfRepeatedNamesAndKeepsSurrogates(t *testing.T) {
	r := read(t, `{"a":1,"a":2,"s":"\ud83d"}`)
	if string(r.Get("a")) != "2" || r.Get("s").Text() != "\xed\xa0\xbd" {
		t.Errorf("%s %q", r.Get("a"), r.Get("s").Text())
	}
}

func TestRawInt(t *testing.T) {
	for in, want := range map[string]int64{
		"12": 12, "12.0": 12, "1.2e1": 12, "-0": 0, "0.0": 0, "1200e-2": 12, "9007199254740993": 9007199254740993, "-5": -5, "-5.0": -5,
		"9223372036854775808": 1<<63 - 1, "1e300": 1<<63 - 1, "-1e300": -1 << 63, "1e99999999999999999999": 1<<63 - 1,
	} {
		if got, ok := read(t, in).Int(); !ok || got != want {
			t.Errorf("%s: %d %v, want %d", in, got, ok, want)
		}
	}
	for _, in := range []string{"1.5", "1e-1", `"12"`, "null", "[1]"} {
		if got, ok := read(t, in).Int(); ok {
			t.Errorf("%s: %d", in, got)
		}
	}
}

func FuzzRaw(f *testing.F) {
	f.Add([]byte(`{"a":[1,{"b":"x\\\""}],"a":2}`))
	f.Add([]byte(`[[],{},"]",null]`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var walk func(r strictjson.Raw, depth int)
		walk = func(r strictjson.Raw, depth int) {
			if depth > 5 {
				return
			}
			for _, v := range r.Members() {
				walk(v, depth+1)
			}
			for _, v := range r.Elements() {
				walk(v, depth+1)
			}
		}
		walk(strictjson.Raw(data), 0) // must end on anything
		r, err := strictjson.Read(data, strictjson.Lenient)
		if err != nil {
			return
		}
		v, err := strictjson.Decode(data, strictjson.Lenient)
		if err != nil {
			t.Fatal(err)
		}
		if object, ok := v.(map[string]any); ok {
			names := map[string]bool{}
			for k, m := range r.Members() {
				names[string(k)] = true
				if strictjson.Check(m, strictjson.Lenient) != nil {
					t.Fatalf("member %q of %q is %q", k, data, m)
				}
			}
			if len(names) != len(object) {
				t.Fatalf("%q: %d names, want %d", data, len(names), len(object))
			}
		}
		if list, ok := v.([]any); ok {
			n := 0
			for _, m := range r.Elements() {
				n++
				if strictjson.Check(m, strictjson.Lenient) != nil {
					t.Fatalf("element of %q is %q", data, m)
				}
			}
			if n != len(list) {
				t.Fatalf("%q: %d elements, want %d", data, n, len(list))
			}
		}
	})
}
