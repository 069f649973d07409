package invariant

import "testing"

func TestDigestComparesValuesNotBytes(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{`{"a":1,"b":[1,2]}`, "{ \"b\": [1,2],\n \"a\": 1.0 }", true},
		{`1`, `1e0`, true},
		{`100`, `1e2`, true},
		{`-0`, `0`, true},
		{`0.10`, `1e-1`, true},
		{`9007199254740993`, `9007199254740992`, false},
		{`{"a":null}`, `{}`, false},
		{`[1,2]`, `[2,1]`, false},
		{"\"\u00e9\"", "\"e\u0301\"", false}, // composed and decomposed,
		{`"1"`, `1`, false},
		{`true`, `"true"`, false},
		{`{"a":"b","c":"d"}`, `{"a":"b,c:d"}`, false},
		{`1e400`, `1e401`, false},
		{`nonsense`, `"nonsense"`, false},
		{`1e99999999999999999999`, `1e99999999999999999998`, false},
	} {
		if got := digest([]byte(c.a)) == digest([]byte(c.b)); got != c.same {
			t.Errorf("%s and %s: same %v, want %v", c.a, c.b, got, c.same)
		}
	}
	if digest(nil) != "" || digest([]byte(" ")) != "" {
		t.Error("nothing has a digest")
	}
}
