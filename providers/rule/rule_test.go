package rule_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/interlock-harness/interlock/providers/rule"
	"github.com/interlock-harness/interlock/providers/strictjson"
)

func decode(t testing.TB, in string) any {
	t.Helper()
	v, err := strictjson.Decode([]byte(in), strictjson.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func holds(t testing.TB, expr, output string) error {
	t.Helper()
	r, err := rule.Compile("r", expr)
	if err != nil {
		t.Fatalf("%s: %v", expr, err)
	}
	return r.Holds(rule.NewData(decode(t, `{"user":"Invoice INV-1 €"}`), decode(t, output), decode(t, `{"id":"INV-1","n":[{"q":12,"p":0.10},{"q":9007199254740993}]}`)))
}

func TestRulesThatHold(t *testing.T) {
	for _, tt := range [][2]string{
		{`{"n":12.0}`, `output.n == 12 && output.n / 5 == 2 && type(output.n) == int`},
		{`{"n":1.2e1}`, `output.n in [12] && output.n % 5 == 2`},
		{`{"n":9007199254740993}`, `output.n == 9007199254740993 && output.n != 9007199254740992`},
		{`{"n":9223372036854775808}`, `output.n > 9223372036854775807 && output.n - 1 == 9223372036854775807`},
		{`{"n":123456789012345678901234567890,"m":123456789012345678901234567890.0}`, `output.n == output.m && output.n % 7 == output.m % 7`},
		{`{"n":123456789012345678901234567890,"m":123456789012345678901234567891}`, `output.n != output.m && output.n < output.m && output.m - output.n == 1`},
		{`{"a":3,"b":4000000000000000000,"t":12000000000000000000}`, `output.a * output.b == output.t`},
		{`{"i":[{"q":3,"p":4000000000000000000},{"q":1,"p":1}],"t":12000000000000000001}`, `sum(output.i.map(x, x.q * x.p)) == output.t`},
		{`{"a":0.1,"b":0.2,"c":0.3}`, `output.a + output.b == output.c && output.c == 0.3 && 0.3 == output.c && output.a + 0.2 == 0.3`},
		{`{"a":0.1}`, `output.a >= 0.1 && 0.1 <= output.a && 0 < output.a && output.a < 1 && output.a * 10 == 1 && 10 * output.a == 1`},
		{`{"a":0.10000000000000000001}`, `output.a != 0.1 && output.a > 0.1 && output.a == 0.10000000000000000001 && -output.a == -0.10000000000000000001`},
		{`{"q":3,"r":1.5}`, `output.q * output.r == 4.5 && output.q / output.r == 2 && output.r - output.q == -1.5 && -output.r < 0.0`},
		{`{"a":1.0,"b":3}`, `output.a == 1.0 && 1.0 / 3.0 * 3.0 == 1.0 && output.b == 3.0 && output.b in [3.0, 4.0] && 2.5 in [2.5, 1.0]`},
		{`{"a":[0.5,2]}`, `0.5 in output.a && 2 in output.a && !(0.25 in output.a) && output.a == [0.5, 2]`},
		{`{"a":-7}`, `output.a / 2 == -3 && output.a % 2 == -1`},
		{`{"a":2.75,"b":10.0}`, `int(output.a) == 2 && string(output.a) == "2.75" && double(output.b) == 10.0 && string(output.b) == "10"`},
		{`{"i":[]}`, `sum(output.i) == 0 && output.i.sum() == 0`},
		{`{"i":[1,2.5,3]}`, `sum(output.i) == 6.5 && sum([1, 2]) == 3`},
		{`{"l":[{"q":12.0,"p":0.100},{"q":9007199254740993}]}`, `output.l.all(x, x in reference.n) && reference.n.all(x, x in output.l) && output.l == reference.n`},
		{`{"id":"INV-1"}`, `output.id == reference.id && input.user.contains(output.id) && output.id.split("-")[1] == "1" && output.id.lowerAscii() == "inv-1"`},
		{`{"id":"INV-1"}`, `output.id.matches("^INV-[0-9]+$") && size(output.id) == 5 && output.id + "!" == "INV-1!"`},
		{`{"d":"2026-11-12T00:00:00Z"}`, `timestamp(output.d) > timestamp("2026-01-01T00:00:00Z") && timestamp(output.d) + duration("1h") > timestamp(output.d)`},
		{`{"x":null}`, `output.x == null && has(output.x) && !has(output.y)`},
		{`{"m":{"a":1,"b":2}}`, `output.m.all(k, output.m[k] > 0) && "a" in output.m && size(output.m) == 2`},
		{`{"l":[3,1,2]}`, `output.l.exists(x, x == 2) && output.l.exists_one(x, x > 2) && output.l.filter(x, x > 1).size() == 2 && output.l[0] == 3`},
		{`{"a":true,"l":[1]}`, `output.a ? size(output.l) == 1 : false`},
		{`{"a":1}`, `output.a == 1 || output.missing == 2`},
	} {
		if err := holds(t, tt[1], tt[0]); err != nil {
			t.Errorf("%s on %s: %v", tt[1], tt[0], err)
		}
	}
}

func TestRulesThatAreBroken(t *testing.T) {
	for _, tt := range [][3]string{
		{`{"n":12}`, `output.n == 13`, "it is false"},
		{`{"n":"12"}`, `output.n == 12`, "it is false"},
		{`{"n":9007199254740993}`, `output.n == 9007199254740992`, "it is false"},
		{`{"a":0.1}`, `'€' == '€' && output.a == 0.10000000000000001`, "it is false"},
		{`{"n":12}`, `output.m == 12`, "no such key"},
		{`{"n":"a"}`, `output.n * 2 == 4`, "no such overload"},
		{`{"n":1.5}`, `output.n % 2 == 1`, "no such overload"},
		{`{"n":0}`, `1 / output.n == 1`, "division by zero"},
		{`{"n":0.0}`, `1.5 / output.n == 1.0`, "division by zero"},
		{`{"n":[1,"2"]}`, `sum(output.n) == 3`, "no number"},
		{`{"n":5}`, `sum(output.n) == 5`, "no such overload"},
		{`{"n":"x"}`, `output.n`, "gives string"},
		{`[1]`, `output.n == 1`, "cannot be evaluated"},
		{`{"n":"a"}`, `output.n < 5`, "no such overload"},
	} {
		err := holds(t, tt[1], tt[0])
		if err == nil || !strings.Contains(err.Error(), tt[2]) {
			t.Errorf("%s on %s: %v, want %q", tt[1], tt[0], err, tt[2])
		}
	}
}

func TestCompileRefuses(t *testing.T) {
	for expr, want := range map[string]string{
		`output.name + "x" == `: "line 1, column",
		`"a text"`:              "gives string; a rule is true or false",
		`size(output)`:          "gives int",
		`otput.total == 1`:      "undeclared reference to 'otput'",
		`output.total = 1`:      "line 1",
		`unknown(output)`:       "undeclared reference to 'unknown'",
		`"a" + 1 == "b"`:        "no matching overload",
		``:                      "line 1",
		strings.Repeat("(", 500) + "true" + strings.Repeat(")", 500): "",
		strings.Repeat("true && ", 2000) + "true":                    "more than 8192",
	} {
		_, err := rule.Compile("r", expr)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") || len(err.Error()) > 300 {
			t.Errorf("%.40q: %v, want %q", expr, err, want)
		}
	}
}

func TestRulesApplyWhereTheirDataIs(t *testing.T) {
	for expr, want := range map[string][2]bool{
		`output.a == 1`:                         {true, true},
		`output.a == reference.a`:               {true, false},
		`input.user == "x"`:                     {false, true},
		`[1].all(x, x == reference.a)`:          {true, false},
		`has(reference.a)`:                      {true, false},
		`output.a == 1 || input == reference.b`: {false, false},
	} {
		r, err := rule.Compile("r", expr)
		if err != nil {
			t.Fatal(err)
		}
		some := map[string]any{"a": "b"}
		if got := r.Applies(rule.NewData(nil, some, some)); got != want[0] {
			t.Errorf("%s without input: %v", expr, got)
		}
		if got := r.Applies(rule.NewData(some, some, nil)); got != want[1] {
			t.Errorf("%s without reference: %v", expr, got)
		}
	}
}

// BenchmarkHoldsAtTheCostLimit is the longest that a rule can take.
func BenchmarkHoldsAtTheCostLimit(b *testing.B) {
	data := rule.NewData(nil, decode(b, "["+strings.TrimSuffix(strings.Repeat("1,", 10_000), ",")+"]"), nil)
	r, err := rule.Compile("r", `output.all(a, output.all(b, a == b))`)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if err := r.Holds(data); err == nil {
			b.Fatal("no limit")
		}
	}
}

func TestCostIsBounded(t *testing.T) {
	list := decode(t, "["+strings.TrimSuffix(strings.Repeat("1,", 10_000), ",")+"]")
	data := rule.NewData(nil, list, nil)
	for _, expr := range []string{
		`output.all(a, output.all(b, a == b))`,
		`output.map(a, output.map(b, a * b)).size() > 0`,
		`output.all(a, a in output.filter(x, x > 0))`,
		`output.all(a, sum(output) > 0)`,
	} {
		r, err := rule.Compile("r", expr)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Holds(data); err == nil || !strings.Contains(err.Error(), "cost limit") {
			t.Errorf("%s: %v", expr, err)
		}
	}
	grow := `[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20].all(i, ` + strings.Repeat("output[0] * ", 40) + `1 > 0)`
	r, err := rule.Compile("r", grow)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Holds(rule.NewData(nil, decode(t, `[1e400]`), nil)); err == nil || !strings.Contains(err.Error(), "digits") {
		t.Errorf("growing number: %v", err)
	}
}

func TestHonestRulesOverALargeAnswerStayWithinTheCost(t *testing.T) {
	item := `{"sku":"PEN-BLU-01","qty":12,"unit_price_cents":120},`
	n := 18_000
	output := decode(t, fmt.Sprintf(`{"line_items":[%s],"total_cents":%d}`, strings.TrimSuffix(strings.Repeat(item, n), ","), n*1440))
	reference := decode(t, `{"line_items":[{"sku":"PEN-BLU-01","qty":12,"unit_price_cents":120}]}`)
	data := rule.NewData(nil, output, reference)
	for _, expr := range []string{
		`output.total_cents == sum(output.line_items.map(i, i.qty * i.unit_price_cents))`,
		`output.line_items.all(i, i in reference.line_items) && reference.line_items.all(i, i in output.line_items)`,
	} {
		r, err := rule.Compile("r", expr)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Holds(data); err != nil {
			t.Errorf("%s: %v", expr, err)
		}
	}
}

func BenchmarkHolds(b *testing.B) {
	r, err := rule.Compile("r", `output.total_cents == sum(output.line_items.map(i, i.qty * i.unit_price_cents))`)
	if err != nil {
		b.Fatal(err)
	}
	output := decode(b, `{"line_items":[{"qty":12,"unit_price_cents":120},{"qty":3,"unit_price_cents":675},{"qty":1,"unit_price_cents":1100}],"total_cents":4565}`)
	b.ReportAllocs()
	for b.Loop() {
		if err := r.Holds(rule.NewData(nil, output, nil)); err != nil {
			b.Fatal(err)
		}
	}
}
