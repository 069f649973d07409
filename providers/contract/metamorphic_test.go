package contract_test

import (
	"testing"
	"testing/fstest"

	"github.com/interlock-harness/interlock/providers/contract"
	"github.com/interlock-harness/interlock/providers/fixtures"
	"github.com/interlock-harness/interlock/providers/strictjson"
)

func TestARelationPutsAListInAnotherOrder(t *testing.T) {
	m := contract.Metamorphic{ID: "m", Permute: "/a/1/x~1y"}
	for input, want := range map[string]string{
		`{"a":[0,{"x/y":[1,2,3],"z":[1,2]}]}`: `{"a":[0,{"x/y":[3,2,1],"z":[1,2]}]}`,
		`{"a":[0,{"x/y":[1]}]}`:               "",
		`{"a":[0,{"x/y":7}]}`:                 "",
		`{"a":[0]}`:                           "",
		`{"b":[1,2]}`:                         "",
	} {
		v, err := strictjson.Decode([]byte(input), strictjson.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		before := string(strictjson.AppendCanonical(nil, v))
		got, ok := m.Input(v)
		if ok != (want != "") || ok && string(strictjson.AppendCanonical(nil, got)) != want {
			t.Errorf("%s: %v %s, want %s", input, ok, strictjson.AppendCanonical(nil, got), want)
		}
		if after := string(strictjson.AppendCanonical(nil, v)); after != before {
			t.Errorf("the input itself became %s", after)
		}
	}
}

func TestARelationComparesOutputsWithoutTheOrderOfItsLists(t *testing.T) {
	m := contract.Metamorphic{ID: "m", Permute: "/x", Unordered: []string{"/lines"}}
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{`{"lines":[1,2],"t":3}`, `{"t":3,"lines":[2,1]}`, true},
		{`{"lines":[1,2],"t":3}`, `{"lines":[1,2],"t":4}`, false},
		{`{"lines":[1,1,2]}`, `{"lines":[1,2,2]}`, false},
		{`{"other":[1,2]}`, `{"other":[2,1]}`, false},
		{`{"lines":[1`, `{"lines":[1`, false},
	} {
		if got := m.Same([]byte(c.a), []byte(c.b)); got != c.same {
			t.Errorf("%s and %s: %v", c.a, c.b, got)
		}
	}
}

func TestARelationThatIsNoneIsRefused(t *testing.T) {
	for _, text := range []string{"{id: m, permute: lines}", "{id: M, permute: /lines}", "{id: m, permute: /lines, unordered: [lines]}"} {
		files := fstest.MapFS{"c/contract.yaml": {Data: []byte("id: c\nversion: 1.0.0\nprompt: {user: \"{{a}}\"}\nmetamorphic: [" + text + "]\n")}, "c/output.schema.json": {Data: []byte(`{"type":"object"}`)}}
		if _, err := contract.Load(files, "c"); err == nil {
			t.Errorf("%s was taken", text)
		}
	}
}

// TestTheThreeContracts holds what each built-in contract promises.
func TestTheThreeContracts(t *testing.T) {
	all, err := contract.LoadAll(fixtures.FS, "contracts")
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"invoice", "triage", "refund"} {
		c := all[id]
		if c == nil {
			t.Fatalf("no contract %s", id)
		}
		languages := map[string]bool{}
		for _, k := range c.Cases {
			languages[k.Language] = true
			if k.Reference == nil {
				t.Errorf("%s, case %s has no reference", id, k.ID)
			}
		}
		if len(c.Cases) < 30 || len(languages) < 5 || !languages["ml"] || !languages["ta"] {
			t.Errorf("%s: %d cases in %d languages", id, len(c.Cases), len(languages))
		}
		if c.Plan.Cases < 30 || c.Plan.Lower95 == "" || c.Plan.Delta == "" || c.Valid == 0 || !c.Closed || len(c.Rules) == 0 || c.Params.Temperature == nil {
			t.Errorf("%s: plan %+v, valid %s, closed %v, %d rules", id, c.Plan, c.Valid, c.Closed, len(c.Rules))
		}
		if f := c.Lint(); len(f) != 0 {
			t.Errorf("%s: %v", id, f)
		}
	}
}
