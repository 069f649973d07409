package check_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/check"
)

// free is what a provider does in cases where it is free to call: y or n, one
// letter a case.
func free(repeat int, calls string) []*check.Observation {
	var list []*check.Observation
	for i, c := range calls {
		o := seen(fmt.Sprint("case ", i), repeat, nil)
		o.Probe = check.Trigger
		if c == 'y' {
			o.Response.Calls = []providers.ToolCall{{Name: "t"}}
		}
		list = append(list, o)
	}
	return list
}

func TestCallsAreComparedWithThePrimaryAndItsAgreementWithItself(t *testing.T) {
	y, n := strings.Repeat("y", 40), strings.Repeat("n", 40)
	for name, c := range map[string]struct {
		first, again, candidate string
		delta                   float64
		want                    check.Verdict
		reason                  string
	}{
		"as the primary":                      {y, y, y, 5, check.Pass, ""},
		"as the primary, too few cases":       {y[:20], y[:20], y[:20], 5, check.Inconclusive, "too few cases"},
		"three points need more cases":        {y, y, y, 3, check.Inconclusive, "too few cases"},
		"fifteen in a hundred are left out":   {y, y, y[:34] + n[:6], 5, check.Fail, "only the primary in 6 (McNemar p = 0.031)"},
		"one is left out":                     {y, y, y[:39] + "n", 5, check.Fail, "only the primary in 1"},
		"calls where the primary does not":    {y[:34] + n[:6], y[:34] + n[:6], y, 5, check.Fail, "only the candidate calls in 6"},
		"the primary wavers, so may it":       {y, y[:36] + n[:4], y[:39] + "n", 10, check.Pass, ""},
		"neither calls: nothing was compared": {n, n, n, 5, check.Inconclusive, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := &check.Run{Protocol: providers.OpenAIChat, Delta: c.delta, Inconclusive: 0.02,
				Primary: append(free(1, c.first), free(2, c.again)...), Observations: free(1, c.candidate)}
			for _, res := range check.Judge(r) {
				if res.ID == "F06" && (res.Verdict != c.want || !strings.Contains(res.Reason, c.reason)) {
					t.Errorf("%s (%s), at least %.3f of %.3f; want %s, %q", res.Verdict, res.Reason, res.Lower95, res.Threshold, c.want, c.reason)
				}
			}
		})
	}
}
