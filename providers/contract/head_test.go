package contract_test

import (
	"slices"
	"testing"
	"testing/fstest"

	"github.com/interlock-harness/interlock/providers/contract"
	"github.com/interlock-harness/interlock/providers/fixtures"
)

func TestHeadAgreesWithTheContract(t *testing.T) {
	h, err := contract.ReadHead(fixtures.FS, "contracts/invoice")
	if err != nil {
		t.Fatal(err)
	}
	c, err := contract.Load(fixtures.FS, "contracts/invoice")
	if err != nil {
		t.Fatal(err)
	}
	if h.Ref() != c.Ref() || !slices.Equal(h.Must, c.Must) || h.Plan != c.Plan || h.Independent != c.Independent {
		t.Errorf("%+v, want what %+v says", h, c)
	}
	for name, text := range map[string]string{
		"another id": "id: other\nversion: 1.0.0\n", "no version": "id: a\n", "unknown field": "id: a\nversion: 1.0.0\nmusts: []\n",
	} {
		if _, err := contract.ReadHead(fstest.MapFS{"a/contract.yaml": {Data: []byte(text)}}, "a"); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
