package schema_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/interlock-harness/interlock/providers/schema"
	"github.com/interlock-harness/interlock/providers/strictjson"
)

const order = `{
	"$schema": "https://json-schema.org/draft/2020-12/schema",
	"type": "object", "additionalProperties": false, "required": ["id", "kind", "lines"],
	"properties": {
		"id": {"type": "string", "pattern": "^[A-Z]{2}-\\u0030\\d+$"},
		"kind": {"enum": ["a", "b", 12]},
		"state": {"const": "open"},
		"on": {"type": ["string", "null"], "format": "date"},
		"at": {"anyOf": [{"type": "string", "format": "date-time"}, {"type": "null"}]},
		"lines": {"type": "array", "minItems": 1, "maxItems": 3, "uniqueItems": true, "items": {"$ref": "#/$defs/line"}},
		"big": {"type": "integer", "maximum": 9007199254740993, "multipleOf": 3},
		"rate": {"type": "number", "exclusiveMinimum": 0, "multipleOf": 0.01},
		"name": {"type": "string", "minLength": 2, "maxLength": 4},
		"who": {"oneOf": [
			{"type": "object", "properties": {"type": {"const": "person"}, "age": {"type": "integer"}}, "required": ["type", "age"]},
			{"type": "object", "properties": {"type": {"const": "firm"}, "vat": {"type": "string"}}, "required": ["type", "vat"]}
		]},
		"tags": {"type": "object", "additionalProperties": {"type": "string"}, "maxProperties": 2, "propertyNames": {"pattern": "^[a-z]+$"}},
		"pair": {"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}], "items": false},
		"card": {"type": "string"}
	},
	"dependentRequired": {"card": ["name"]},
	"if": {"properties": {"kind": {"const": "b"}}}, "then": {"required": ["rate"]},
	"$defs": {"line": {"type": "object", "additionalProperties": false, "required": ["sku"], "properties": {"sku": {"type": "string"}, "qty": {"type": "integer", "minimum": 1}}}}
}`

const good = `{"id":"AB-01","kind":"a","lines":[{"sku":"x","qty":1}]}`

func decode(t testing.TB, in string) any {
	t.Helper()
	v, err := strictjson.Decode([]byte(in), strictjson.Limits{})
	if err != nil {
		t.Fatalf("%s: %v", in, err)
	}
	return v
}

func compile(t testing.TB, in string) *schema.Schema {
	t.Helper()
	s, err := schema.Compile([]byte(in))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// with is the good order with one more or another member.
func with(member string) string {
	name, _, _ := strings.Cut(member, ":")
	v := strings.TrimSuffix(good, "}")
	for _, old := range []string{`"id":"AB-01",`, `"kind":"a",`, `,"lines":[{"sku":"x","qty":1}]`} {
		if strings.Contains(old, name+":") {
			v = strings.Replace(v, old, map[bool]string{true: ",", false: ""}[strings.HasPrefix(old, ",")], 1)
		}
	}
	v = strings.TrimSuffix(v, ",")
	if v == "{" {
		return v + member + "}"
	}
	return v + "," + member + "}"
}

func TestCheckNamesTheFaultAPersonWouldName(t *testing.T) {
	s := compile(t, order)
	tests := []struct {
		in     string
		reason schema.Reason
		path   string
	}{
		{good, "", ""},
		{with(`"kind":12.0`), "", ""},
		{with(`"kind":"b","rate":0.07`), "", ""},
		{with(`"on":null`), "", ""},
		{with(`"at":null`), "", ""},
		{with(`"big":9.007199254740993e15`), "", ""},
		{with(`"tags":{"a":"x"}`), "", ""},
		{with(`"pair":["a",1]`), "", ""},
		{with(`"who":{"type":"firm","vat":"x"}`), "", ""},
		{with(`"card":"x","name":"abc"`), "", ""},
		{`[` + good + `]`, schema.WrongType, ""},
		{`"x"`, schema.WrongType, ""},
		{`null`, schema.Null, ""},
		{`{"order":` + good + `}`, schema.Wrapper, "/order"},
		{`{"ok":true,"data":` + good + `}`, schema.Wrapper, "/data"},
		{`{"orders":[` + good + `]}`, schema.Wrapper, "/orders"},
		{`{"result":{"order":` + good + `}}`, schema.Wrapper, "/result/order"},
		{`{"id":"AB-01","kind":"a"}`, schema.MissingKey, "/lines"},
		{`{"ID":"AB-01","kind":"a","lines":[{"sku":"x"}]}`, schema.MissingKey, "/id"},
		{`{}`, schema.MissingKey, "/id"},
		{with(`"lines":[{"sku":"x"},{"qty":1}]`), schema.MissingKey, "/lines/1/sku"},
		{with(`"card":"x"`), schema.MissingKey, "/name"},
		{with(`"kind":"b"`), schema.MissingKey, "/rate"},
		{with(`"extra":1`), schema.ExtraKey, "/extra"},
		{with(`"a/b~c":1`), schema.ExtraKey, "/a~1b~0c"},
		{with(`"__proto__":{}`), schema.ExtraKey, "/__proto__"},
		{with(`"lines":[{"sku":"x","note":""}]`), schema.ExtraKey, "/lines/0/note"},
		{with(`"tags":{"A":"x"}`), schema.ExtraKey, "/tags/A"},
		{with(`"id":null`), schema.Null, "/id"},
		{with(`"lines":null`), schema.Null, "/lines"},
		{with(`"lines":{"sku":"x"}`), schema.WrongType, "/lines"},
		{with(`"lines":[{"sku":"x","qty":"1"}]`), schema.WrongType, "/lines/0/qty"},
		{with(`"lines":[{"sku":"x","qty":1.5}]`), schema.WrongType, "/lines/0/qty"},
		{with(`"at":5`), schema.WrongType, "/at"},
		{with(`"who":5`), schema.WrongType, "/who"},
		{with(`"who":null`), schema.Null, "/who"},
		{with(`"who":{"type":"person","age":"5"}`), schema.WrongType, "/who/age"},
		{with(`"who":{"type":"firm"}`), schema.MissingKey, "/who/vat"},
		{with(`"tags":{"a":1}`), schema.WrongType, "/tags/a"},
		{with(`"pair":[1,1]`), schema.WrongType, "/pair/0"},
		{with(`"kind":"A"`), schema.Enum, "/kind"},
		{with(`"kind":"12"`), schema.Enum, "/kind"},
		{with(`"state":"shut"`), schema.Enum, "/state"},
		{with(`"who":{"type":"ghost","age":1}`), schema.Enum, "/who/type"},
		{with(`"id":"AB-1"`), schema.Format, "/id"},
		{with(`"on":"12/11/2026"`), schema.Format, "/on"},
		{with(`"on":"2026-02-30"`), schema.Format, "/on"},
		{with(`"at":"2026-02-01"`), schema.Format, "/at"},
		{with(`"lines":[]`), schema.Range, "/lines"},
		{with(`"lines":[{"sku":"x","qty":0}]`), schema.Range, "/lines/0/qty"},
		{with(`"lines":[{"sku":"x","qty":1},{"qty":1.0,"sku":"x"}]`), schema.Range, "/lines/1"},
		{with(`"lines":[{"sku":"a"},{"sku":"b"},{"sku":"c"},{"sku":"d"}]`), schema.Range, "/lines"},
		{with(`"big":9007199254740996`), schema.Range, "/big"},
		{with(`"big":9007199254740992`), schema.Range, "/big"},
		{with(`"rate":0`), schema.Range, "/rate"},
		{with(`"rate":0.071`), schema.Range, "/rate"},
		{with(`"name":"മ"`), schema.Range, "/name"},
		{with(`"name":"abcde"`), schema.Range, "/name"},
		{with(`"tags":{"a":"x","b":"x","c":"x"}`), schema.Range, "/tags"},
		{with(`"pair":["a",1,2]`), schema.Range, "/pair/2"},
	}
	for _, tt := range tests {
		got := s.Check(decode(t, tt.in))
		switch {
		case got == nil && tt.reason == "":
		case got == nil:
			t.Errorf("%s passes, want %s at %s", tt.in, tt.reason, tt.path)
		case got.Reason != tt.reason || got.Path != tt.path || got.Detail == "":
			t.Errorf("%s: got %+v, want %s at %q", tt.in, got, tt.reason, tt.path)
		}
	}
}

// TestLibraryAndWalkAgree: the walk may find nothing where the library does (it
// does not know every keyword), never the other way round.
func TestUnknownToTheWalkIsLeftToTheLibrary(t *testing.T) {
	s := compile(t, `{"type":"object","properties":{"a":{"type":"string"}},"unevaluatedProperties":false}`)
	for in, want := range map[string]schema.Reason{`{"a":"x"}`: "", `{"a":"x","b":1}`: schema.ExtraKey, `{"a":1}`: schema.WrongType} {
		got := s.Check(decode(t, in))
		if (got == nil) != (want == "") || got != nil && got.Reason != want {
			t.Errorf("%s: %+v, want %q", in, got, want)
		}
	}
	not := compile(t, `{"not":{"type":"object","properties":{"a":true},"unevaluatedProperties":false}}`)
	if got := not.Check(decode(t, `{"a":1,"b":2}`)); got != nil {
		t.Errorf("rests on what the walk does not know: %+v", got)
	}
}

func TestCompileRefuses(t *testing.T) {
	for name, tt := range map[string]struct{ in, want string }{
		"file reference":     {`{"$ref":"file:///etc/hostname"}`, "only references inside"},
		"http reference":     {`{"properties":{"a":{"$ref":"http://169.254.169.254/latest"}}}`, "only references inside"},
		"relative reference": {`{"$ref":"other.json"}`, "only references inside"},
		"remote meta-schema": {`{"$schema":"https://example.org/meta"}`, "only references inside"},
		"missing definition": {`{"$ref":"#/$defs/a"}`, "not found"},
		"wrong type":         {`{"type":"strnig"}`, "at \"/type\""},
		"required is text":   {`{"required":"a"}`, "at \"/required\""},
		"look-ahead":         {`{"properties":{"a":{"pattern":"^(?!x)"}}}`, `at "/properties/a": pattern "^(?!x)" looks ahead`},
		"back-reference":     {`{"pattern":"(a)\\1"}`, "refers back"},
		"broken pattern":     {`{"patternProperties":{"(":{}}}`, "cannot be compiled"},
		"number bomb":        {`{"maximum":1e1000001}`, "exponent"},
		"duplicate keyword":  {`{"type":"object","type":"array"}`, "twice"},
		"not JSON":           {`{type: object}`, "name in double quotes"},
		"too deep":           {strings.Repeat(`{"not":`, 200) + "true" + strings.Repeat("}", 200), "nested deeper"},
		"loop":               {`{"$ref":"#"}`, "infinite loop"},
		"a list":             {`[]`, "schema:"},
	} {
		_, err := schema.Compile([]byte(tt.in))
		if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") || len(err.Error()) > 300 {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
}

func TestFormatsAreStrict(t *testing.T) {
	tests := map[string]struct{ good, bad []string }{
		"date":          {[]string{"2026-11-12", "2024-02-29", "0001-01-01"}, []string{"2026-2-1", "2026-02-29", "2026-13-01", "12/11/2026", "2026-11-12T00:00:00Z", "2026-11-12 ", "20261112", "2026-W46-4", "+2026-11-12", "２０２６-11-12", ""}},
		"time":          {[]string{"10:05:08Z", "10:05:08.001+05:30", "23:59:60Z", "05:29:60+05:30"}, []string{"+1:00:00Z", "10:05Z", "10:05:08", "24:00:00Z", "10:60:00Z", "22:59:60Z", "10:05:08+5:30", "10:05:08.Z", "10:05:08 Z"}},
		"date-time":     {[]string{"2026-11-12T10:05:08Z", "2026-11-12t10:05:08z"}, []string{"2026-11-12 10:05:08Z", "2026-02-30T10:05:08Z", "2026-11-12T10:05:08", "2026-11-12", "2026-11-12TZ"}},
		"duration":      {[]string{"P1D", "PT5M", "P1Y2M3DT4H", "P2W"}, []string{"P", "PT", "1D", "P1D2Y", "PT1D", "P1W1D", "P1.5D", "P1Y2D"}},
		"email":         {[]string{"a@b.example", "a.b+c@b.example", `"a b"@b.example`, "a@[127.0.0.1]"}, []string{"a", "a@", "@b", "A <a@b.example>", "a@b.example ", "a@b..example", "a..b@b.example", "ä@b.example", "a@-b.example", "a@b@c"}},
		"hostname":      {[]string{"a.example", "a-b.example", "1.example"}, []string{"", "a..b", "a.-b", "a-.b", "a_b", "a.b.", "ä.example", strings.Repeat("a", 64)}},
		"ipv4":          {[]string{"127.0.0.1"}, []string{"127.0.1", "1.+2.3.4", "01.2.3.4", "256.1.1.1", "1.2.3.4/8", "0x7f.1.1.1", "1.2.3.4 "}},
		"ipv6":          {[]string{"::1", "2001:db8::", "::ffff:1.2.3.4"}, []string{"1.2.3.4", "::1%eth0", "12345::", ":1", "[::1]"}},
		"uri":           {[]string{"https://a.example/b?c#d", "urn:isbn:1", "http://[::1]:80/"}, []string{"/a", "a b:c", "http://a b", "http://ä.example", `http://a\b`, "http://a/%zz", "http://::1", "//a.example", "http://a/{b}"}},
		"uri-reference": {[]string{"/a", "?q", "a/b"}, []string{`\\a\b`, "a b", "%"}},
		"iri":           {[]string{"http://ä.example/ö"}, []string{"ä", "http://a b"}},
		"uuid":          {[]string{"2eb8aa08-aa98-11ea-b4aa-73b441d16380"}, []string{"2eb8aa08aa9811eab4aa73b441d16380", "{2eb8aa08-aa98-11ea-b4aa-73b441d16380}", "2eb8aa08-aa98-11ea-b4aa-73b441d1638g"}},
		"regex":         {[]string{"^a+$", `\u0041`}, []string{"(", "a{2,1}"}},
		"json-pointer":  {[]string{"", "/a/~0~1"}, []string{"a", "/~2", "#/a"}},
		"uri-template":  {[]string{"/a/{b}"}, []string{"/a/{b", "/a/{{b}}"}},
	}
	for format, tt := range tests {
		s := compile(t, fmt.Sprintf(`{"format":%q}`, format))
		for _, v := range tt.good {
			if f := s.Check(v); f != nil {
				t.Errorf("%s refuses %q", format, v)
			}
		}
		for _, v := range tt.bad {
			if f := s.Check(v); f == nil || f.Reason != schema.Format {
				t.Errorf("%s takes %q: %+v", format, v, f)
			}
		}
		if f := s.Check(true); f != nil {
			t.Errorf("%s concerns strings only: %+v", format, f)
		}
	}
}

func TestPatternsMeanWhatECMASays(t *testing.T) {
	for _, tt := range []struct {
		pattern, in string
		want        bool
	}{
		{`^\\s$`, "\u00a0", true}, {`^\\S$`, "\u2003", false}, {`^[\\s]$`, "\ufeff", true}, {`^\\u0041\\u{42}$`, "AB", true},
		{`^a\\/b$`, "a/b", true}, {`^\\d$`, "൧", false}, {`^\\cA$`, "\x01", true}, {`^\\p{L}+$`, "മലയാള", false}, {`^[\\p{L}\\p{M}]+$`, "മലയാളം", true},
		{`es`, "expression", true},
	} {
		s := compile(t, `{"pattern":"`+tt.pattern+`"}`)
		if got := s.Check(tt.in) == nil; got != tt.want {
			t.Errorf("%s on %q: %v", tt.pattern, tt.in, got)
		}
	}
}

func TestInventedKeysAtAnyDepth(t *testing.T) {
	s := compile(t, `{"type":"object","properties":{"a":{"type":"object","properties":{"b":{"type":"string"}}},"free":{"type":"object"},
		"map":{"additionalProperties":{"properties":{"x":true}}},"list":{"items":{"anyOf":[{"properties":{"k":true}},{"properties":{"l":true}}]}}}}`)
	got := s.Invented(decode(t, `{"a":{"b":"x","c":1},"free":{"z":1},"map":{"q":{"x":1,"y":2}},"list":[{"k":1},{"l":1},{"m":1}],"A":1}`))
	if fmt.Sprint(got) != "[/A /a/c /list/2/m /map/q/y]" {
		t.Errorf("got %v", got)
	}
}

func TestLintNamesWhatIsLikelyWrong(t *testing.T) {
	s := compile(t, `{"type":"object","requierd":["a"],"properties":{"a":{"type":"string","format":"dat"},"b":{"$ref":"#/$defs/c"}},
		"required":["a","zz"],"additionalProperties":false,"$defs":{"c":{"type":"object","properties":{"d":{"minimum":0}}}},"x-note":1,"default":{"requierd":1}}`)
	var got []string
	for _, f := range s.Lint() {
		got = append(got, f.Path+" "+f.Text)
	}
	want := []string{
		`/requierd unknown keyword, did you mean required?: it has no effect`,
		`/required "zz" is required but not described`,
		`/properties/a/format unknown format "dat": it is not checked`,
		`/$defs/c the object is open: invented keys pass; add "additionalProperties": false`,
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s", strings.Join(got, "\n"))
	}
	if n := len(s.LintFor("openai-chat")); n != 3 { // b and d are not required, c is open
		t.Errorf("openai-chat: %d findings %v", n, s.LintFor("openai-chat"))
	}
	if n := len(compile(t, order).LintFor("gemini")); n == 0 {
		t.Error("gemini enforces everything?")
	}
}

func TestHostileValuesEndQuickly(t *testing.T) {
	const most = 2 * time.Second // far above what is asked, far below a hang
	many := "[" + strings.TrimSuffix(strings.Repeat("1,", 300_000), ",") + "]"
	objects := "[" + strings.TrimSuffix(strings.Repeat(`{"a":1},`, 100_000), ",") + "]"
	for name, tt := range map[string]struct{ schema, in string }{
		"unique numbers":     {`{"uniqueItems":true}`, "[" + strings.TrimSuffix(strings.Repeat("[],[1],", 60_000), ",") + "]"},
		"all items wrong":    {`{"items":{"type":"object","required":["x"]}}`, many},
		"alternatives":       {`{"items":{"anyOf":[{"type":"string"},{"required":["x"]},{"enum":[2]}]}}`, objects},
		"recursive branches": {`{"$defs":{"t":{"anyOf":[{"items":{"$ref":"#/$defs/t"},"minItems":9},{"items":{"$ref":"#/$defs/t"},"maxItems":0}]}},"$ref":"#/$defs/t"}`, strings.Repeat("[", 60) + strings.Repeat("]", 60)},
		"pattern":            {`{"items":{"pattern":"^(a+)+$"}}`, `["` + strings.Repeat("a", 50_000) + `!"]`},
	} {
		s, v := compile(t, tt.schema), decode(t, tt.in)
		begin := time.Now()
		f := s.Check(v)
		if took := time.Since(begin); took > most || f == nil {
			t.Errorf("%s: %v after %v", name, f, took)
		}
	}
}

func BenchmarkCheckInvoice(b *testing.B) {
	s := compile(b, `{"type":"object","additionalProperties":false,"required":["invoice_id","currency","issued_on","line_items","total_cents"],
		"properties":{"invoice_id":{"type":"string"},"currency":{"type":"string","enum":["EUR","USD","INR"]},"issued_on":{"type":"string","format":"date"},
		"line_items":{"type":"array","items":{"type":"object","additionalProperties":false,"required":["sku","qty","unit_price_cents"],
		"properties":{"sku":{"type":"string"},"qty":{"type":"integer","minimum":1},"unit_price_cents":{"type":"integer","minimum":0}}}},"total_cents":{"type":"integer"}}}`)
	v := decode(b, `{"invoice_id":"INV-2026-0417","currency":"EUR","issued_on":"2026-11-12","line_items":[{"sku":"PEN-BLU-01","qty":12,"unit_price_cents":120},
		{"sku":"PAD-A5-DOT","qty":3,"unit_price_cents":675},{"sku":"CABLE-2M","qty":1,"unit_price_cents":1100}],"total_cents":4565}`)
	b.ReportAllocs()
	for b.Loop() {
		if f := s.Check(v); f != nil {
			b.Fatal(f)
		}
	}
}

func BenchmarkCheck(b *testing.B) {
	s := compile(b, order)
	v := decode(b, `{"id":"AB-01","kind":"a","lines":[{"sku":"x","qty":1},{"sku":"y","qty":2},{"sku":"z","qty":3}],"on":"2026-11-12"}`)
	b.ReportAllocs()
	for b.Loop() {
		if f := s.Check(v); f != nil {
			b.Fatal(f)
		}
	}
}
