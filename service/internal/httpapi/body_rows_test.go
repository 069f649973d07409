package httpapi_test

import (
	"encoding/binary"
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"
	"unicode/utf16"
)

// bodied is a submit with the given body.
func bodied(body string) string {
	raw := post(owner{key: "KEY"}, body, "Idempotency-Key: body")
	if body == "" {
		raw = strings.Replace(raw, "\r\n\r\n", "\r\nContent-Length: 0\r\n\r\n", 1)
	}
	return raw
}

// intent is a good body with one more member of the intent, or of its input.
func intentWith(member string) string {
	return strings.Replace(goodBody("body"), `"provider"`, member+`,"provider"`, 1)
}

func inputWith(member string) string {
	return strings.Replace(goodBody("body"), `"text"`, member+`,"text"`, 1)
}

func nested(depth int) string {
	// three objects stand around the value already
	return inputWith(`"a":` + strings.Repeat("[", depth-3) + strings.Repeat("]", depth-3))
}

func utf16Text(s string) string {
	var b []byte
	for _, u := range utf16.Encode([]rune(s)) {
		b = binary.LittleEndian.AppendUint16(b, u)
	}
	return "\xff\xfe" + string(b)
}

func bodyRows() []row {
	strict, params := []string{"400 body-not-strict-json"}, []string{"422 params-invalid"}
	wrong := func(id, name, body string) row {
		return row{id: id, name: name, raw: bodied(body), want: strict, key: "body"}
	}
	invalid := func(id, name, body string) row {
		return row{id: id, name: name, raw: bodied(body), want: params, key: "body"}
	}
	fine := func(id, name, body string) row {
		return row{id: id, name: name, raw: bodied(body), want: []string{"201"}, jobs: 1}
	}
	typed := func(name string, lines ...string) row {
		raw := request("POST", "/v1/jobs", "KEY", goodBody("body"), append([]string{"Idempotency-Key: body"}, lines...)...)
		return row{id: "C25", name: name, raw: raw, want: []string{"415 media-type-unsupported"}, closed: true, key: "body"}
	}
	many := make([]string, 1001)
	for i := range many {
		many[i] = fmt.Sprintf(`"k%d":1`, i)
	}
	rows := []row{
		wrong("C01", "empty", ""),
		wrong("C02", "two values", goodBody("body")+"{}"),
		wrong("C02", "a word after it", goodBody("body")+" x"),
		wrong("C02", "NUL after it", goodBody("body")+"\x00"),
		wrong("C03", "byte order mark", "\xef\xbb\xbf"+goodBody("body")),
		wrong("C04", "UTF-16", utf16Text(goodBody("body"))),
		wrong("C05", "double key at the top", strings.Replace(goodBody("body"), `{"intent"`, `{"intent":1,"intent"`, 1)),
		wrong("C05", "double key 10 levels down", inputWith(`"a":`+strings.Repeat(`{"b":`, 9)+`{"a":1,"a":1}`+strings.Repeat("}", 9))),
		wrong("C05", "double key by an escape", inputWith(`"a":{"b":1,"\u0062":1}`)),
		invalid("C06", "Intent", strings.Replace(goodBody("body"), "intent", "Intent", 1)),
		invalid("C07", "intent and INTENT", strings.Replace(goodBody("body"), `{"intent"`, `{"INTENT":{},"intent"`, 1)),
		invalid("C07", "provider and PROVIDER", intentWith(`"PROVIDER":"q"`)),
		wrong("C09", "bad UTF-8", inputWith("\"a\":\"\xff\"")),
		wrong("C09", "overlong", inputWith("\"a\":\"\xc0\xaf\"")),
		wrong("C09", "lone surrogate", inputWith(`"a":"\ud800"`)),
		wrong("C09", "surrogates the wrong way round", inputWith(`"a":"\udc00\ud800"`)),
		wrong("C10", "NUL", inputWith(`"a":"\u0000"`)),
		fine("C11", "depth 64", nested(64)),
		wrong("C11", "depth 65", nested(65)),
		wrong("C11", "depth 100,000", nested(100_000)),
		fine("C12", "1e400", inputWith(`"a":1e400`)),
		wrong("C12", "1e401", inputWith(`"a":1e401`)),
		wrong("C12", "1e-401", inputWith(`"a":1e-401`)),
		wrong("C12", "65 digits", inputWith(`"a":`+strings.Repeat("1", 65))),
		fine("C12", "64 digits", inputWith(`"a":`+strings.Repeat("1", 64))),
		wrong("C16", "single quotes", strings.ReplaceAll(goodBody("body"), `"`, `'`)),
		wrong("C16", "comment", goodBody("body")+"// x"),
		wrong("C16", "trailing comma", inputWith(`"a":[1,]`)),
		invalid("C21", "null", "null"), invalid("C21", "array", "[]"), invalid("C21", "text", `"x"`), invalid("C21", "number", "1"),
		wrong("C22", "1 MiB of brackets", strings.Repeat("[", 1<<20)),
		wrong("C23", "100,000 keys", `{"intent":{`+strings.Repeat(`"k":1,`, 0)+manyKeys(80_000)+`}}`),
		wrong("C23", "1,001 keys", inputWith(`"a":{`+strings.Join(many, ",")+`}`)),
		fine("C23", "1,000 keys", inputWith(`"a":{`+strings.Join(many[:1000], ",")+`}`)),
		fine("C24", "__proto__", inputWith(`"__proto__":{"a":1},"constructor":1`)),
		typed("text", "Content-Type: text/plain"), typed("absent"), typed("latin1", "Content-Type: application/json; charset=latin1"),
		typed("two", "Content-Type: application/json", "Content-Type: application/json"),
		typed("a further parameter", "Content-Type: application/json; profile=x"),
		{id: "C26", name: "other spelling", jobs: 1, want: []string{"201"},
			raw: request("POST", "/v1/jobs", "KEY", goodBody("body"), "Idempotency-Key: body", `Content-Type: APPLICATION/JSON ; charset="utf-8"`)},
		invalid("C27", "climbing provider", strings.Replace(goodBody("b"), "openai-demo", "../q", 1)),
		invalid("C27", "capital provider", strings.Replace(goodBody("b"), "openai-demo", "Q", 1)),
		invalid("C27", "U+2010 for the hyphen", strings.Replace(goodBody("b"), "openai-demo", "openai\u2010demo", 1)),
		invalid("C28", "base_url", intentWith(`"params":{"base_url":"http://evil"}`)),
		invalid("C28", "headers", intentWith(`"params":{"headers":{"a":"b"}}`)),
		invalid("C28", "base_url in the intent", intentWith(`"base_url":"http://evil"`)),
		invalid("C30", "unknown contract", strings.Replace(goodBody("b"), "triage", "nope", 1)),
		invalid("C30", "undeployed version", strings.Replace(goodBody("b"), `"triage"`, `"triage@9.9.9"`, 1)),
		invalid("C31", "input breaks the schema", strings.Replace(goodBody("b"), `{"text":"b"}`, `{"text":1}`, 1)),
	}
	for _, name := range []string{"owner", "id", "version", "completed_by", "state", "result", "status", "key"} {
		rows = append(rows, invalid("C08", name+" at the top", strings.Replace(goodBody("b"), `{"intent"`, `{"`+name+`":"x","intent"`, 1)),
			invalid("C08", name+" in the intent", intentWith(`"`+name+`":"x"`)))
	}
	for _, number := range []string{"NaN", "Infinity", "-Infinity", "01", ".5", "+1", "0x1", "1.", "-", "1e", "1_0"} {
		rows = append(rows, wrong("C15", number, inputWith(`"a":`+number)))
	}
	for _, deadline := range []string{"-1", `"-1s"`, "0", "36000000000", "1e9", `"PT1M"`, "1.5", `"1000"`, "true", "[1]", "600001"} {
		rows = append(rows, invalid("C29", deadline, intentWith(`"deadline_ms":`+deadline)))
	}
	for _, deadline := range []string{"1", "1e3", "1000.0", "600000"} {
		rows = append(rows, fine("C29", deadline+" is taken", intentWith(`"deadline_ms":`+deadline)))
	}
	return rows
}

func manyKeys(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `"%x":1,`, i)
	}
	return strings.TrimSuffix(b.String(), ",")
}

func TestBodyRowsAreAnsweredAsListed(t *testing.T) {
	f := shared(t)
	for _, r := range bodyRows() {
		t.Run(r.id+" "+r.name, func(t *testing.T) { r.run(t, f) })
	}
}

func TestSecondInputUnderOneKey(t *testing.T) { // C13, C14, C17 to C20
	f := shared(t)
	for _, tc := range []struct {
		id, name, first, second string
		want                    int
	}{
		{"C12", "-0 equals 0", inputWith(`"a":0`), inputWith(`"a":-0`), 200},
		{"C13", "1 and 1.0", inputWith(`"a":1`), inputWith(`"a":1.0`), 200},
		{"C13", "1 and 1e0", inputWith(`"a":1`), inputWith(`"a":1e0`), 200},
		{"C14", "big neighbours", inputWith(`"a":9007199254740993`), inputWith(`"a":9007199254740992`), 409},
		{"C17", "order and blanks", goodBody("x"), "\n{ \"intent\" : {\"input\":{\"text\":\"x\"}, \"provider\":\"openai-demo\",\t\"contract\":\"triage\"}}", 200},
		{"C18", "null, then absent", intentWith(`"params":null`), goodBody("body"), 409},
		{"C18", "null in the input, then absent", inputWith(`"a":null`), goodBody("body"), 409},
		{"C19", "array order", inputWith(`"a":[1,2]`), inputWith(`"a":[2,1]`), 409},
		{"C20", "composed, then decomposed", inputWith("\"a\":\"\u00e9\""), inputWith("\"a\":\"e\u0301\""), 409},
		{"", "an explicit default", goodBody("body"), intentWith(`"race":false`), 409},
		{"", "another provider", goodBody("body"), strings.Replace(goodBody("body"), "openai-demo", "q", 1), 409},
		{"", "another contract reference", goodBody("body"), strings.Replace(goodBody("body"), `"triage"`, `"triage@1.0.0"`, 1), 409},
		{"", "an input that is invalid now", goodBody("body"), strings.Replace(goodBody("body"), `{"text":"body"}`, `{}`, 1), 409},
	} {
		t.Run(strings.TrimSpace(tc.id+" "+tc.name), func(t *testing.T) {
			o := f.owner(t)
			first := f.call(t, post(o, tc.first, "Idempotency-Key: two"))
			second := f.call(t, post(o, tc.second, "Idempotency-Key: two"))
			if first.status != 201 || second.status != tc.want {
				t.Fatalf("%d, then %d %s; want 201, then %d", first.status, second.status, second.body, tc.want)
			}
			if n := f.jobs(t, o); n != 1 {
				t.Errorf("%d jobs", n)
			}
		})
	}
}

// TestBombsCostLittle measures what the process allocates for the largest bad
// bodies; the test's own client is in the sum.
func TestBombsCostLittle(t *testing.T) {
	f := shared(t)
	o := f.owner(t)
	f.submit(t, o, "warm", "warm")
	for name, body := range map[string]string{
		"brackets": strings.Repeat("[", 1<<20), "keys": manyKeys(80_000), "depth": nested(100_000), "digits": inputWith(`"a":` + strings.Repeat("1", 1<<19)),
	} {
		raw := post(o, body, "Idempotency-Key: bomb")
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		begun := time.Now()
		answers, _ := f.exchange(t, exchange{raw: raw, only: true})
		took := time.Since(begun)
		runtime.ReadMemStats(&after)
		if len(answers) != 1 || answers[0].status != http.StatusBadRequest {
			t.Errorf("%s: %v", name, answers)
		}
		if grown := after.TotalAlloc - before.TotalAlloc; grown > 8<<20 {
			t.Errorf("%s: %d KiB were allocated", name, grown>>10)
		}
		if took > time.Second {
			t.Errorf("%s: it took %s", name, took)
		}
	}
}

func TestRawBodyIsStoredAsItCame(t *testing.T) {
	f := shared(t)
	o := f.owner(t)
	body := " \n" + inputWith(`"n":1.50e1`) + "\t"
	a := f.call(t, post(o, body, "Idempotency-Key: raw"))
	if a.status != 201 {
		t.Fatalf("%d %s", a.status, a.body)
	}
	if got := sql[[]byte](t, f, "SELECT request FROM jobs WHERE owner = $1", o.name); string(got) != body {
		t.Errorf("stored %q, sent %q", got, body)
	}
	if got := sql[int](t, f, "SELECT fingerprint_algorithm FROM jobs WHERE owner = $1", o.name); got != 1 {
		t.Errorf("algorithm %d", got)
	}
}
