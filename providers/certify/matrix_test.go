package certify_test

import (
	"flag"
	"fmt"
	"slices"
	"testing"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/certificate"
	"github.com/interlock-harness/interlock/providers/certify"
	"github.com/interlock-harness/interlock/providers/check"
	"github.com/interlock-harness/interlock/providers/contract"
	"github.com/interlock-harness/interlock/providers/fixtures"
	"github.com/interlock-harness/interlock/providers/wire"
)

var allProtocols = flag.Bool("all-protocols", false, "try each bad provider in each protocol, not in one only")

func options(t testing.TB, p providers.Protocol, id string) certify.Options {
	t.Helper()
	c, err := contract.Load(fixtures.FS, "contracts/"+id)
	if err != nil {
		t.Fatal(err)
	}
	facts, err := certificate.ReadContract(fixtures.FS, "contracts/"+id)
	if err != nil {
		t.Fatal(err)
	}
	return certify.Options{
		Contract: c, Facts: facts, Repeats: 4,
		Profile: providers.Profile{
			Name: "standin", Protocol: p, BaseURL: "http://127.0.0.1:1", Model: "standin-orion-1", AllowLoopback: true,
			Auth: providers.Auth{Header: "Authorization", Scheme: "Bearer", Env: "X"},
		},
	}
}

func TestEachBadProviderIsRejectedByItsOwnCheckAlone(t *testing.T) {
	list, err := certify.BadProviders(fixtures.FS, "bad")
	if err != nil {
		t.Fatal(err)
	}
	if len(list) < 60 {
		t.Errorf("%d bad providers, 60 are promised", len(list))
	}
	for _, c := range check.All() {
		if !slices.ContainsFunc(list, func(b certify.Bad) bool { return b.Check == c.ID }) {
			t.Errorf("no bad provider proves check %s", c.ID)
		}
	}
	protocols := wire.Protocols()
	for i, b := range list {
		tried := 0
		for n := range protocols {
			p := protocols[(i+n)%len(protocols)] // another one for each, so that all have their turn
			if !b.Speaks(p) || tried > 0 && !*allProtocols {
				continue
			}
			tried++
			t.Run(fmt.Sprintf("%s %s", b.ID, p), func(t *testing.T) {
				row, err := certify.Try(t.Context(), options(t, p, b.Under()), &b)
				if err != nil {
					t.Fatal(err)
				}
				if !row.Right {
					t.Errorf("the provider that %s is rejected by %v, want %s alone (%s)", b.Title, row.Rejected, b.Check, row.Reason)
				}
			})
		}
	}
}

func TestTheGoodProviderOfEachProtocolPasses(t *testing.T) {
	for _, p := range wire.Protocols() {
		for _, id := range []string{"invoice", "triage", "refund"} {
			t.Run(string(p)+" "+id, func(t *testing.T) {
				row, err := certify.Try(t.Context(), options(t, p, id), nil)
				if err != nil {
					t.Fatal(err)
				}
				if len(row.Rejected) != 0 || len(row.Inconclusive) != 0 {
					t.Errorf("rejected by %v (%s), inconclusive %v", row.Rejected, row.Reason, row.Inconclusive)
				}
			})
		}
	}
}
