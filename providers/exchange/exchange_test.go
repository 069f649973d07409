package exchange_test

import (
	"io/fs"
	"path"
	"strings"
	"testing"

	"github.com/interlock-harness/interlock/providers/contract"
	"github.com/interlock-harness/interlock/providers/exchange"
	"github.com/interlock-harness/interlock/providers/fixtures"
	"github.com/interlock-harness/interlock/providers/lock"
)

func theContract(t testing.TB) *contract.Contract {
	t.Helper()
	data, err := fs.ReadFile(fixtures.FS, "exchanges/_contract.json")
	if err != nil {
		t.Fatal(err)
	}
	c, err := contract.Parse("_contract.json", data)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func recorded(t testing.TB) map[string]*exchange.Exchange {
	t.Helper()
	names, err := fs.Glob(fixtures.FS, "exchanges/*.json")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]*exchange.Exchange{}
	for _, name := range names {
		if strings.HasPrefix(path.Base(name), "_") || path.Base(name) == lock.File {
			continue
		}
		data, err := fs.ReadFile(fixtures.FS, name)
		if err != nil {
			t.Fatal(err)
		}
		x, err := exchange.Parse(name, data)
		if err != nil {
			t.Fatal(err)
		}
		all[x.ID] = x
	}
	return all
}

func TestEveryRecordedExchangeGetsItsVerdict(t *testing.T) {
	c, all := theContract(t), recorded(t)
	if len(all) < 138 {
		t.Fatalf("%d exchanges", len(all))
	}
	for id, x := range all {
		j := x.Judge(c)
		if !x.Expect.Met(j) {
			t.Errorf("%s: %s %s (%s: %s), want %s %s", id, j.Verdict, j.Reason, j.Place, j.Detail, x.Expect.Verdict, x.Expect.Reason)
		} else if j.Reason != x.Expect.Reason {
			t.Errorf("%s: detail %s, want %s (%s: %s)", id, j.Reason, x.Expect.Reason, j.Place, j.Detail)
		}
		if j.Reason != "ok" && (j.Place == "" || j.Detail == "") {
			t.Errorf("%s: %s has no place or no detail: %+v", id, j.Reason, j)
		}
	}
}
