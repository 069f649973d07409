package certify_test

import (
	"flag"
	"slices"
	"strings"
	"testing"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/certificate"
	"github.com/interlock-harness/interlock/providers/certify"
	"github.com/interlock-harness/interlock/providers/contract"
	"github.com/interlock-harness/interlock/providers/wire"
)

var goodRuns = flag.Int("good-runs", 20, "so many good providers, each of its own manner, are taken through the checks")

// goodOnes runs good providers alone, under each of the contracts.
func goodOnes(t *testing.T, runs int, protocols []providers.Protocol, change func(*contract.Contract)) certify.Matrix {
	t.Helper()
	nobody := []providers.Protocol{"spoken by nobody"}
	test := certify.SelfTest{
		GoodRuns: runs, Protocols: protocols,
		Progress: func(done, all int, last certify.Row) {
			if done%100 == 0 {
				t.Logf("%d of %d runs, the last of them rejected by %v", done, all, last.Rejected)
			}
		},
		Bad: []certify.Bad{{Contract: "triage", Protocols: nobody}, {Contract: "refund", Protocols: nobody}},
		Contract: func(id string) (*contract.Contract, certificate.Contract, error) {
			o := options(t, protocols[0], id)
			if change != nil {
				change(o.Contract)
			}
			return o.Contract, o.Facts, nil
		},
	}
	m, err := test.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(m.Rows) != runs {
		t.Fatalf("%d runs, not %d", len(m.Rows), runs)
	}
	return m
}

func TestGoodProvidersOfAllMannersPass(t *testing.T) {
	m := goodOnes(t, *goodRuns, wire.Protocols(), nil)
	seeds, tried := map[uint64]bool{}, map[providers.Protocol]int{}
	for _, r := range m.Rows {
		seeds[r.Seed] = true
		tried[r.Protocol]++
		if !r.Right || len(r.Inconclusive) > 0 {
			t.Errorf("%s with seed %d, under %s: rejected by %v (%s), inconclusive %v", r.Protocol, r.Seed, r.Contract, r.Rejected, r.Reason, r.Inconclusive)
		}
	}
	if len(tried) != len(wire.Protocols()) {
		t.Errorf("tried %v", tried)
	}
	t.Logf("%d runs in %d protocols with %d seeds", len(m.Rows), len(tried), len(seeds))
}

// The good provider answers with the references of the contract: two that are
// exchanged make it a wrong one.
func TestAGoodProviderThatIsWrongIsReported(t *testing.T) {
	p := providers.AnthropicMessages
	m := goodOnes(t, 1, []providers.Protocol{p}, func(c *contract.Contract) {
		c.Cases = slices.Clone(c.Cases)
		c.Cases[0].Reference, c.Cases[1].Reference = c.Cases[1].Reference, c.Cases[0].Reference
	})
	want := "the good provider of anthropic-messages with seed 0, under invoice, is rejected by B02"
	if r := m.Rows[0]; r.Right || r.Reason == "" || !slices.ContainsFunc(m.Wrong(), func(s string) bool { return strings.HasPrefix(s, want) }) {
		t.Errorf("%+v\n%q", r, m.Wrong())
	}
}
