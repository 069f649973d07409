package certify_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/certify"
)

func TestAMatrixSaysWhatIsNotAsItMustBe(t *testing.T) {
	row := func(bad, check string, right bool, rejected ...string) certify.Row {
		return certify.Row{Bad: bad, Seed: 7, Contract: "invoice", Check: check, Protocol: providers.Gemini, Rejected: rejected, Right: right}
	}
	bad := []certify.Bad{{ID: "a", Check: "W01"}, {ID: "b", Check: "S01"}}
	for want, m := range map[string]certify.Matrix{
		"": {Checks: []string{"W01", "S01"}, Bad: bad, Rows: []certify.Row{row("", "", true), row("a", "W01", true, "W01"), row("b", "S01", true, "S01")}},
		"the good provider of gemini with seed 7, under invoice, is rejected by W01": {Checks: []string{"W01"}, Bad: bad, Rows: []certify.Row{row("", "", false, "W01")}},
		"a in gemini is not rejected; W01 must do it":                                {Checks: []string{"W01"}, Bad: bad, Rows: []certify.Row{row("a", "W01", false)}},
		"a in gemini is rejected by W01, S01, must be by W01 ":                       {Checks: []string{"W01"}, Bad: bad, Rows: []certify.Row{row("a", "W01", false, "W01", "S01")}},
		"no bad provider proves check T09":                                           {Checks: []string{"W01", "T09"}, Bad: bad},
	} {
		wrong := m.Wrong()
		if want == "" && len(wrong) != 0 || want != "" && !slices.ContainsFunc(wrong, func(s string) bool { return strings.HasPrefix(s, want) }) {
			t.Errorf("%q, want %q", wrong, want)
		}
	}
	m := certify.Matrix{Rows: []certify.Row{row("a", "W01", true, "W01"), row("a", "W01", false)}}
	if rejected, tried := m.Cell("a", "W01"); rejected != 1 || tried != 2 {
		t.Errorf("%d of %d", rejected, tried)
	}
}
