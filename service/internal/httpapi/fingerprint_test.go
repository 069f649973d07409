package httpapi_test

import (
	"bytes"
	"encoding/json"
	"math/big"
	"reflect"
	"strings"
	"testing"

	"github.com/interlock-harness/interlock/providers/strictjson"
	"github.com/interlock-harness/interlock/service/internal/httpapi"
)

// fingerprintOf is that of a submit with body; false when it is not strict JSON.
func fingerprintOf(body string) ([32]byte, bool) {
	canonical, err := strictjson.Canonical([]byte(body))
	if err != nil {
		return [32]byte{}, false
	}
	return httpapi.Fingerprint("POST", "/v1/jobs", "", "application/json", canonical), true
}

func TestFingerprintOfEqualAndOtherMeanings(t *testing.T) {
	for _, tc := range []struct {
		name string
		a, b string
		same bool
	}{
		{"key order and blanks", `{"a":1,"b":[1,2]}`, "{ \"b\" : [1, 2],\n\"a\":1}", true},
		{"one, spelt three ways", `{"a":1}`, `{"a":1.0}`, true},
		{"one as an exponent", `{"a":1}`, `{"a":1e0}`, true},
		{"minus zero", `{"a":0}`, `{"a":-0}`, true},
		{"an escape and its character", `{"a":"\u00e9"}`, `{"a":"é"}`, true},
		{"big neighbours", `{"a":9007199254740993}`, `{"a":9007199254740992}`, false},
		{"null and absent", `{"a":null}`, `{}`, false},
		{"array order", `{"a":[1,2]}`, `{"a":[2,1]}`, false},
		{"composed and decomposed", "{\"a\":\"\u00e9\"}", "{\"a\":\"e\u0301\"}", false},
		{"number and text", `{"a":1}`, `{"a":"1"}`, false},
		{"case of a name", `{"model":1}`, `{"MODEL":1}`, false},
		{"explicit default", `{"race":false}`, `{}`, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			a, okA := fingerprintOf(tc.a)
			b, okB := fingerprintOf(tc.b)
			if !okA || !okB {
				t.Fatal("an input is not strict JSON")
			}
			if (a == b) != tc.same {
				t.Fatalf("%s and %s: equal is %v, want %v", tc.a, tc.b, a == b, tc.same)
			}
		})
	}
}

func TestFingerprintHoldsEveryPartApart(t *testing.T) {
	base := httpapi.Fingerprint("POST", "/v1/jobs", "", "application/json", []byte("{}"))
	for name, other := range map[string][32]byte{
		"method":       httpapi.Fingerprint("PUT", "/v1/jobs", "", "application/json", []byte("{}")),
		"route":        httpapi.Fingerprint("POST", "/v1/jobs/1/attempts", "", "application/json", []byte("{}")),
		"query":        httpapi.Fingerprint("POST", "/v1/jobs", "a=1", "application/json", []byte("{}")),
		"content type": httpapi.Fingerprint("POST", "/v1/jobs", "", "application/cbor", []byte("{}")),
		"body":         httpapi.Fingerprint("POST", "/v1/jobs", "", "application/json", []byte("[]")),
		"moved bytes":  httpapi.Fingerprint("POST", "/v1/job", "s", "application/json", []byte("{}")),
	} {
		if other == base {
			t.Errorf("%s is not part of the fingerprint", name)
		}
	}
}

// TestFingerprintIsStable pins algorithm 1: stored fingerprints must compare for ever.
func TestFingerprintIsStable(t *testing.T) {
	got := httpapi.Fingerprint("POST", "/v1/jobs", "", "application/json", []byte(`{"a":1}`))
	const want = "4d7a46489e5a4a8e4a22098fd7e1b20998ce682fbb263fb0e00a3c0f1e29e80d" // made by another program
	if text := hexOf(got); text != want {
		t.Fatalf("algorithm 1 gives %s, want %s: a change needs a new number", text, want)
	}
}

func FuzzFingerprint(f *testing.F) {
	for _, seed := range [][2]string{{`{"a":1}`, `{"a":1.0}`}, {`{"a":[1,2]}`, `{"a":[2,1]}`}, {`{}`, `{"a":null}`},
		{`9007199254740993`, `9007199254740992`}, {`"\ud83d\ude00"`, `"😀"`}, {`1e400`, `10e399`}, {`10e400`, `0`}} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		ca, errA := strictjson.Canonical([]byte(a))
		cb, errB := strictjson.Canonical([]byte(b))
		if errA != nil || errB != nil {
			return
		}
		// the limits are of a text as it is written, and the canonical form is only
		// hashed: 10e400 is within them, and 1e401 is not
		v, err := strictjson.Decode(ca, strictjson.Limits{AllowNUL: true, MaxBytes: -1, MaxNumberLength: -1, MaxExponent: -1})
		if again := strictjson.AppendCanonical(nil, v); err != nil || !bytes.Equal(again, ca) {
			t.Fatalf("the canonical form of %q is not its own: %q, %v", a, again, err)
		}
		equal := httpapi.Fingerprint("POST", "/", "", "", ca) == httpapi.Fingerprint("POST", "/", "", "", cb)
		if equal != reflect.DeepEqual(meaning(t, a), meaning(t, b)) {
			t.Fatalf("equal fingerprints: %v, of %q and %q", equal, a, b)
		}
	})
}

// meaning reads a text that is strict JSON with another reader, encoding/json; its
// numbers as exact fractions.
func meaning(t *testing.T, text string) any {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%q is strict JSON, and not JSON: %v", text, err)
	}
	var exact func(v any) any
	exact = func(v any) any {
		switch v := v.(type) {
		case json.Number:
			r, ok := new(big.Rat).SetString(string(v))
			if !ok {
				t.Fatalf("%s is no number", v)
			}
			return [1]string{r.RatString()} // apart from a text
		case []any:
			for i := range v {
				v[i] = exact(v[i])
			}
		case map[string]any:
			for name := range v {
				v[name] = exact(v[name])
			}
		}
		return v
	}
	return exact(v)
}
