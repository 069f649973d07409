package certificate_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/certificate"
)

// mixed is the statement of a run whose 240 answers ended and looked like this.
func mixed(finish, structure map[string]int) certificate.Predicate {
	return certificate.Predicate{Baseline: certificate.Baseline{Finish: finish, Structure: structure}}
}

// suspectAfter watches n answers; 0 when none of them is suspect.
func suspectAfter(p certificate.Predicate, n int, next func(i int) certificate.Sighting) (after int, why string) {
	w := certificate.NewWatch(p)
	for i := 1; i <= n; i++ {
		s := next(i)
		s.Verdict = providers.Accept
		if why := w.Observe(s); why != "" {
			return i, why
		}
	}
	return 0, ""
}

func TestAnotherMixOfFinishWordsIsSuspect(t *testing.T) {
	p := mixed(map[string]int{"stop": 240}, nil)
	if n, why := suspectAfter(p, 6400, func(int) certificate.Sighting { return certificate.Sighting{Finish: "stop"} }); n != 0 {
		t.Errorf("as certified: suspect after %d answers: %s", n, why)
	}
	n, why := suspectAfter(p, 64, func(i int) certificate.Sighting {
		return certificate.Sighting{Finish: []string{"stop", "end_turn"}[i%8/7]}
	})
	if n != 64 || !strings.Contains(why, `finish words`) || !strings.Contains(why, `8 "end_turn"`) {
		t.Errorf("one in eight ends with a word that was never seen: after %d answers %q", n, why)
	}
}

func TestAnotherMixOfStructuresIsSuspectOfCanariesOnly(t *testing.T) {
	p := mixed(nil, map[string]int{"a": 160, "b": 80})
	for canary, want := range map[bool]int{true: 64, false: 0} {
		n, why := suspectAfter(p, 64, func(i int) certificate.Sighting {
			return certificate.Sighting{Canary: canary, Structure: fmt.Sprint("new", i%8 == 0)}
		})
		if n != want || canary && !strings.Contains(why, "structures") {
			t.Errorf("canary %v: after %d answers %q", canary, n, why)
		}
	}
}

// TestAnUnchangedProviderIsHardlyEverSuspect watches providers that answer as they
// were certified, some with many rare structures: over 20 windows each.
func TestAnUnchangedProviderIsHardlyEverSuspect(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	shape := func(kinds int) string {
		return fmt.Sprint(int(float64(kinds) * r.Float64() * r.Float64() * r.Float64()))
	}
	suspected := 0
	for try := range 60 {
		kinds := []int{1, 3, 12, 60}[try%4]
		seen := map[string]int{}
		for range 240 {
			seen[shape(kinds)]++
		}
		if n, why := suspectAfter(mixed(nil, seen), 20*64, func(int) certificate.Sighting {
			return certificate.Sighting{Canary: true, Structure: shape(kinds)}
		}); n != 0 {
			suspected++
			t.Logf("%d kinds, after %d answers: %s", kinds, n, why)
		}
	}
	if suspected > 1 { // two of 60 at one in a thousand: a chance of 0.2 %
		t.Errorf("%d of 60 unchanged providers are suspected", suspected)
	}
}
