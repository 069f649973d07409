package strictjson_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"
	"unicode/utf8"

	"github.com/interlock-harness/interlock/providers/strictjson"
)

func FuzzStrictJSON(f *testing.F) {
	for _, s := range []string{
		`{"a":[1,2.5e3,"x\u00e9",null,true]}`, `{"a":1,"a":2}`, "[[[[", `"\ud800\udc00"`, "1e1000001", "-0", "{}{}", "\xef\xbb\xbf{}", `{"a":"\u0000"}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		limits := strictjson.Limits{AllowNUL: true}
		v, err := strictjson.Decode(data, limits)
		if checked := strictjson.Check(data, limits); (checked == nil) != (err == nil) {
			t.Fatalf("Check %v, Decode %v", checked, err)
		}
		var e *strictjson.Error
		if errors.As(err, &e) {
			if e.Offset < 0 || e.Offset > len(data) || e.Kind == "" {
				t.Fatalf("odd error %#v", e)
			}
			// What is well-formed and still refused has one of these reasons.
			if json.Valid(data) && utf8.Valid(data) {
				switch e.Kind {
				case "duplicate_key", "utf8", "number", "depth", "keys", "size":
				default:
					t.Fatalf("refused valid JSON %q: %v", data, e)
				}
			}
			return
		}
		if !json.Valid(data) {
			t.Fatalf("accepted %q", data)
		}
		dec := json.NewDecoder(bytes.NewReader(data))
		dec.UseNumber()
		var std any
		if err := dec.Decode(&std); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(strictjson.AppendCanonical(nil, std), strictjson.AppendCanonical(nil, v)) {
			t.Fatalf("%q reads as %#v, encoding/json says %#v", data, v, std)
		}
		again, err := strictjson.Decode(strictjson.AppendCanonical(nil, v), strictjson.Limits{AllowNUL: true, MaxBytes: -1, MaxNumberLength: -1, MaxExponent: -1})
		if err != nil || !bytes.Equal(strictjson.AppendCanonical(nil, again), strictjson.AppendCanonical(nil, v)) {
			t.Fatalf("canonical form of %q does not read back: %v", data, err)
		}
	})
}
