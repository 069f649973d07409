package certificate_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/certificate"
)

func baseline() certificate.Predicate {
	return certificate.Predicate{
		Served: []string{"m-1-20261101"}, Fingerprints: []string{"fp_1"},
		Baseline: certificate.Baseline{PromptSize: map[string]int{"en-crash": 120}},
	}
}

func TestDriftIsSeenAtTheFirstAnswerOfAnother(t *testing.T) {
	n := func(v int64) *int64 { return &v }
	for name, c := range map[string]struct {
		live certificate.Sighting
		want string
	}{
		"as certified":                  {certificate.Sighting{Model: "m-1-20261101", Fingerprint: "fp_1", Case: "en-crash", PromptSize: n(120), Verdict: providers.Accept}, ""},
		"an alias that is allowed":      {certificate.Sighting{Model: "m-1", Verdict: providers.Accept}, ""},
		"says nothing of itself":        {certificate.Sighting{Verdict: providers.Accept}, ""},
		"another prompt":                {certificate.Sighting{Case: "", PromptSize: n(7), Verdict: providers.Accept}, ""},
		"a newer date":                  {certificate.Sighting{Model: "m-1-20261201", Verdict: providers.Accept}, "names the model \"m-1-20261201\""},
		"another family":                {certificate.Sighting{Model: "other", Verdict: providers.Reject}, "names the model \"other\""},
		"another build":                 {certificate.Sighting{Model: "m-1", Fingerprint: "fp_2", Verdict: providers.Accept}, "names the build \"fp_2\""},
		"another tokenizer or template": {certificate.Sighting{Case: "en-crash", PromptSize: n(119), Verdict: providers.Accept}, "has 119 tokens now; it had 120"},
		"ANSI in the model":             {certificate.Sighting{Model: "\x1b[2J", Verdict: providers.Accept}, "names the model \"?[2J\""},
	} {
		why := certificate.NewWatch(baseline(), "m-1").Observe(c.live)
		if c.want == "" && why != "" || !strings.Contains(why, c.want) {
			t.Errorf("%s: %q, want %q", name, why, c.want)
		}
	}
}

func TestDriftOfQualityIsToldFromChance(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 1))
	answers := func(bad float64, n int) int { // after how many answers it is suspect
		d := certificate.NewWatch(baseline())
		for i := 1; i <= n; i++ {
			v := providers.Accept
			if r.Float64() < bad {
				v = providers.Reject
			}
			if d.Observe(certificate.Sighting{Verdict: v}) != "" {
				return i
			}
		}
		return 0
	}
	suspected := 0
	for range 100 {
		if answers(0.01, 1000) != 0 {
			suspected++
		}
		if n := answers(0.5, 200); n == 0 || n > 60 {
			t.Errorf("one in two is broken: suspect after %d answers", n)
		}
	}
	if suspected > 3 {
		t.Errorf("one in a hundred is broken: %d of 100 providers are suspected over 1,000 answers", suspected)
	}
	d := certificate.NewWatch(baseline())
	for range 3 {
		d.Observe(certificate.Sighting{Verdict: providers.Reject})
	}
	for range 100 {
		if why := d.Observe(certificate.Sighting{Verdict: providers.Unknown}); why != "" {
			t.Fatal("an answer without a verdict counts")
		}
	}
	if d.Observe(certificate.Sighting{Verdict: providers.Reject}) == "" {
		t.Error("four broken answers in a row are no reason")
	}
}
