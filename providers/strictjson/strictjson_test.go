package strictjson_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/interlock-harness/interlock/providers/strictjson"
)

func TestCheckRefusesWithKindPlaceAndPath(t *testing.T) {
	long := strings.Repeat("1", 65)
	tests := []struct {
		name, in string
		kind     strictjson.Kind
		offset   int
		path     string
	}{
		{"empty", "", "empty", 0, ""},
		{"blanks only", " \t\r\n", "empty", 4, ""},
		{"second value", "{}{}", "trailing", 2, ""},
		{"text after", "{} x", "trailing", 3, ""},
		{"NUL after", "{}\x00", "trailing", 2, ""},
		{"byte order mark", "\xef\xbb\xbf{}", "syntax", 0, ""},
		{"UTF-16", "\xff\xfe{\x00}\x00", "utf8", 0, ""},
		{"duplicate", `{"a":1,"a":1}`, "duplicate_key", 7, "/a"},
		{"duplicate by escape", `{"a":1,"\u0061":2}`, "duplicate_key", 7, "/a"},
		{"duplicate far down", `{"x":[0,{"y":{"a":1,"b":2,"a":1}}]}`, "duplicate_key", 26, "/x/1/y/a"},
		{"duplicate empty name", `{"":1,"":2}`, "duplicate_key", 6, "/"},
		{"single quotes", `{'a':1}`, "syntax", 1, ""},
		{"comment", "{/*x*/}", "syntax", 1, ""},
		{"trailing comma object", `{"a":1,}`, "syntax", 7, "/a"},
		{"trailing comma array", `[1,]`, "syntax", 3, "/1"},
		{"missing colon", `{"a" 1}`, "syntax", 5, "/a"},
		{"missing comma", `{"a":1 "b":2}`, "syntax", 7, "/a"},
		{"wrong bracket", `[1}`, "syntax", 2, "/0"},
		{"NaN", `[NaN]`, "syntax", 1, "/0"},
		{"Infinity", `{"a":Infinity}`, "syntax", 5, "/a"},
		{"minus Infinity", `-Infinity`, "syntax", 1, ""},
		{"leading zero", `01`, "syntax", 1, ""},
		{"leading point", `.5`, "syntax", 0, ""},
		{"trailing point", `[5.]`, "syntax", 3, "/0"},
		{"plus", `+1`, "syntax", 0, ""},
		{"hex", `[0x1]`, "syntax", 2, "/0"},
		{"bare exponent", `[1e]`, "syntax", 3, "/0"},
		{"capital literal", `True`, "syntax", 0, ""},
		{"word", `nul!`, "syntax", 0, ""},
		{"raw newline", "[\"a\nb\"]", "syntax", 3, "/0"},
		{"raw NUL", "[\"a\x00b\"]", "syntax", 3, "/0"},
		{"bad escape", `["\x"]`, "syntax", 2, "/0"},
		{"bad hex", `["\u00g0"]`, "syntax", 6, "/0"},
		{"NUL escape", `{"a":"\u0000"}`, "nul", 6, "/a"},
		{"invalid UTF-8", "[\"\xff\"]", "utf8", 2, "/0"},
		{"overlong", "[\"\xc0\xaf\"]", "utf8", 2, "/0"},
		{"surrogate in UTF-8", "[\"\xed\xa0\x80\"]", "utf8", 2, "/0"},
		{"high surrogate alone", `["\ud800"]`, "utf8", 2, "/0"},
		{"low surrogate alone", `["\udc00"]`, "utf8", 2, "/0"},
		{"high surrogate twice", `["\ud800\ud800"]`, "utf8", 2, "/0"},
		{"high surrogate, newline", `["\ud800\n"]`, "utf8", 2, "/0"},
		{"number too long", long, "number", 0, ""},
		{"exponent", `{"n":1e401}`, "number", 5, "/n"},
		{"negative exponent", `1e-401`, "number", 0, ""},
		{"exponent bomb", `1e1000001`, "number", 0, ""},
		{"exponent that overflows", `1e99999999999999999999`, "number", 0, ""},
		{"depth", strings.Repeat("[", 65), "depth", 64, strings.Repeat("/0", 64)},
		{"open object", `{"a":1`, "truncated", 6, "/a"},
		{"open array", `[1,`, "truncated", 3, "/1"},
		{"open string", `{"a":"xy`, "truncated", 8, "/a"},
		{"open name", `{"ab`, "truncated", 4, ""},
		{"after name", `{"ab"`, "truncated", 5, "/ab"},
		{"after colon", `{"ab":`, "truncated", 6, "/ab"},
		{"after escape", `["\`, "truncated", 3, "/0"},
		{"in escape", `["\u12`, "truncated", 6, "/0"},
		{"after high surrogate", `["\ud83d`, "truncated", 8, "/0"},
		{"in low surrogate", `["\ud83d\`, "truncated", 9, "/0"},
		{"in character", "[\"\xe0\xb4", "truncated", 4, "/0"},
		{"in literal", `[tru`, "truncated", 4, "/0"},
		{"in number", `[-`, "truncated", 2, "/0"},
		{"in fraction", `[1.`, "truncated", 3, "/0"},
		{"pointer is escaped", `{"a/b~c":nope}`, "syntax", 9, "/a~1b~0c"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := strictjson.Check([]byte(tt.in), strictjson.Limits{})
			var e *strictjson.Error
			if !errors.As(err, &e) {
				t.Fatalf("accepted %q", tt.in)
			}
			if e.Kind != tt.kind || e.Offset != tt.offset || e.Path != tt.path {
				t.Errorf("got %s at byte %d of %q, want %s at %d of %q (%v)", e.Kind, e.Offset, e.Path, tt.kind, tt.offset, tt.path, e)
			}
			if _, err := strictjson.Decode([]byte(tt.in), strictjson.Limits{}); !reflect.DeepEqual(err, error(e)) {
				t.Errorf("Decode says %v, Check says %v", err, e)
			}
		})
	}
}

func TestDecodeKeepsWhatWasWritten(t *testing.T) {
	in := ` {"a":[1.0,-0,9007199254740993,1e400,1E+2],"b":{"":"\u00e9é\ud83d\ude00\/\n"},"n":null,"t":true,"f":false,"e":[],"o":{}} ` + "\r\n"
	got, err := strictjson.Decode([]byte(in), strictjson.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	n := func(s string) json.Number { return json.Number(s) }
	want := map[string]any{
		"a": []any{n("1.0"), n("-0"), n("9007199254740993"), n("1e400"), n("1E+2")},
		"b": map[string]any{"": "éé😀/\n"},
		"n": nil, "t": true, "f": false, "e": []any{}, "o": map[string]any{},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %#v", got)
	}
}

func TestLimitsAreInclusive(t *testing.T) {
	object := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `,"k%d":0`, i)
		}
		return "{" + b.String()[1:] + "}"
	}
	tests := []struct {
		name, at, over string
		kind           strictjson.Kind
	}{
		{"bytes", `"` + strings.Repeat("x", 1<<20-2) + `"`, `"` + strings.Repeat("x", 1<<20-1) + `"`, "size"},
		{"depth", strings.Repeat("[", 64) + strings.Repeat("]", 64), strings.Repeat(`{"a":`, 65), "depth"},
		{"keys", object(1000), object(1001), "keys"},
		{"number", strings.Repeat("1", 64), strings.Repeat("1", 65), "number"},
		{"exponent", "1e400", "1e401", "number"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if err := strictjson.Check([]byte(tt.at), strictjson.Limits{}); err != nil {
				t.Errorf("at the limit: %v", err)
			}
			var e *strictjson.Error
			if err := strictjson.Check([]byte(tt.over), strictjson.Limits{}); !errors.As(err, &e) || e.Kind != tt.kind {
				t.Errorf("beyond the limit: %v", err)
			}
		})
	}
	if err := strictjson.Check([]byte(`"\u0000"`), strictjson.Limits{AllowNUL: true}); err != nil {
		t.Errorf("NUL where it is allowed: %v", err)
	}
	unlimited := strictjson.Limits{MaxDepth: -1, MaxKeys: -1, MaxNumberLength: -1, MaxExponent: -1, MaxBytes: -1}
	deep := strings.Repeat("[", 1<<21) + strings.Repeat("]", 1<<21)
	if err := strictjson.Check([]byte(deep), unlimited); err != nil {
		t.Errorf("without limits: %v", err)
	}
	if err := strictjson.Check([]byte(deep[:1<<21]), unlimited); err == nil {
		t.Error("2 MiB of [ accepted")
	}
}

func TestHostileTextIsRefusedQuickly(t *testing.T) {
	const most = 100 * time.Millisecond
	var many strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&many, `,"%d":0`, i)
	}
	for name, in := range map[string][]byte{
		"1 MiB of [":   []byte(strings.Repeat("[", 1<<20)),
		"100,000 keys": []byte("{" + many.String()[1:] + "}"),
	} {
		begin := time.Now()
		if err := strictjson.Check(in, strictjson.Limits{}); err == nil {
			t.Errorf("%s: accepted", name)
		}
		if took := time.Since(begin); took > most {
			t.Errorf("%s took %v", name, took)
		}
	}
}

func TestErrorQuotesLittleAndEscaped(t *testing.T) {
	in := `{"` + strings.Repeat("\u202e\\u001b", 500) + `":x}`
	text := strictjson.Check([]byte(in), strictjson.Limits{}).Error()
	if len(text) > 700 || strings.ContainsAny(text, "\u202e\x1b") {
		t.Errorf("shows %d bytes: %s", len(text), text)
	}
}

func TestPrefixReadsOneValue(t *testing.T) {
	for in, want := range map[string]int{`{"a":1}{"b":2}`: 7, ` [1] tail`: 4, `12 13`: 2, `"x"y`: 3} {
		if n, err := strictjson.Prefix([]byte(in), strictjson.Limits{}); err != nil || n != want {
			t.Errorf("%s: %d, %v", in, n, err)
		}
	}
	if _, err := strictjson.Prefix([]byte(`{"a":`), strictjson.Limits{}); err == nil {
		t.Error("half a value accepted")
	}
}

func BenchmarkCheckMegabyte(b *testing.B) {
	item := `{"sku":"PEN-BLU-01","qty":12,"unit_price_cents":120},`
	in := []byte("[" + strings.Repeat(item, 19000) + "{}]")
	b.SetBytes(int64(len(in)))
	b.ReportAllocs()
	for b.Loop() {
		if err := strictjson.Check(in, strictjson.Limits{}); err != nil {
			b.Fatal(err)
		}
	}
}

// The lists of a document share memory, and nobody who appends to one sees it.
func TestListsOfOneDocumentAreApart(t *testing.T) {
	v, err := strictjson.Decode([]byte(`[[1,2],[3,[4]],[],[5]]`), strictjson.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	lists := v.([]any)
	for i := range lists {
		lists[i] = append(lists[i].([]any), "more")
	}
	n := func(s string) json.Number { return json.Number(s) }
	want := []any{[]any{n("1"), n("2"), "more"}, []any{n("3"), []any{n("4")}, "more"}, []any{"more"}, []any{n("5"), "more"}}
	if !reflect.DeepEqual(v, want) {
		t.Errorf("%v, want %v", v, want)
	}
}
