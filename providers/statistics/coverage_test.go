package statistics_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/interlock-harness/interlock/providers/statistics"
)

// rates are the true rates of the simulated providers.
var rates = []float64{0.80, 0.90, 0.95, 0.99, 0.999}

const simulated = 10_000 // providers of each rate

// TestTheBoundCovers simulates providers whose true pass rate of a case is known,
// certifies each with n cases, and counts how often the reported bound is right:
// at or below the true rate.
func TestTheBoundCovers(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 95))
	for _, n := range []int{30, 60, 299} {
		bound := make([]float64, n+1)
		for passes := range bound {
			bound[passes] = statistics.Lower(passes, n, statistics.Confidence)
		}
		for _, rate := range rates {
			right := 0
			for range simulated {
				passes := 0
				for range n {
					if r.Float64() < rate {
						passes++
					}
				}
				if bound[passes] <= rate {
					right++
				}
			}
			if share := float64(right) / simulated; share < 0.95 && n < 100 { // beyond, the exact coverage is too close to 0.95 for a simulation
				t.Errorf("%d cases, true rate %g: the bound is right in %.4f of the runs", n, rate, share)
			}
			exact := 0.0 // the same without chance
			for passes, b := range bound {
				if b <= rate {
					exact += binomial(passes, n, rate)
				}
			}
			if exact < 0.95 {
				t.Errorf("%d cases, true rate %g: exact coverage %.5f", n, rate, exact)
			}
		}
	}
}

func binomial(k, n int, p float64) float64 {
	a, _ := math.Lgamma(float64(n + 1))
	b, _ := math.Lgamma(float64(k + 1))
	c, _ := math.Lgamma(float64(n - k + 1))
	return math.Exp(a - b - c + float64(k)*math.Log(p) + float64(n-k)*math.Log1p(-p))
}

// TestTheBoundCoversWhenARunMayEndEarly does the same for a plan that Wald's test
// may end, well or badly, before the last case, as certify ends it.
func TestTheBoundCoversWhenARunMayEndEarly(t *testing.T) {
	const n, least, bad = 60, 30, 0.90
	known := map[[2]int]float64{}
	bound := func(passes, of int) float64 {
		key := [2]int{passes, of}
		if _, ok := known[key]; !ok {
			known[key] = statistics.Lower(passes, of, statistics.Confidence)
		}
		return known[key]
	}
	r := rand.New(rand.NewPCG(5, 96))
	for _, rate := range rates {
		right, calls := 0, 0
		for range simulated {
			test := statistics.Sequential{Good: 1 - (1-bad)/10, Bad: bad, Alpha: 0.05, Beta: 0.05}
			passes, tried := 0, 0
			for tried < n {
				tried++
				pass := r.Float64() < rate
				if pass {
					passes++
				}
				d := test.Observe(pass)
				if d == statistics.Reject || d == statistics.Accept && tried >= least {
					break
				}
			}
			calls += tried
			if bound(passes, tried) <= rate {
				right++
			}
		}
		if share := float64(right) / simulated; share < 0.95 {
			t.Errorf("true rate %g: the bound is right in %.4f of the runs", rate, share)
		}
		if mean := float64(calls) / simulated; mean > 0.8*n {
			t.Errorf("true rate %g: %.1f of %d cases were tried on average; nothing is saved", rate, mean, n)
		}
	}
}

// TestRepeatsOfACaseAreNoCases shows why the case is the unit: where the repeats of
// a case go together, a bound over all repeats claims too much and one over cases
// does not.
func TestRepeatsOfACaseAreNoCases(t *testing.T) {
	const n, k, rate = 30, 8, 0.95
	r := rand.New(rand.NewPCG(5, 97))
	byCase, byRepeat := 0, 0
	for range simulated {
		cases := 0
		for range n {
			if r.Float64() < rate { // then all its repeats pass
				cases++
			}
		}
		if statistics.Lower(cases, n, statistics.Confidence) <= rate {
			byCase++
		}
		if statistics.Lower(cases*k, n*k, statistics.Confidence) <= rate {
			byRepeat++
		}
	}
	if float64(byCase)/simulated < 0.95 || float64(byRepeat)/simulated > 0.9 {
		t.Errorf("right by cases in %d, by repeats in %d of %d", byCase, byRepeat, simulated)
	}
}

func TestTheBoundOfF1Covers(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 98))
	for _, rate := range rates { // of agreement, among the cases in which either calls
		f1, right := 2*rate/(1+rate), 0
		for range simulated {
			both := 0
			for range 50 {
				if r.Float64() < rate {
					both++
				}
			}
			if statistics.LowerF1(both, 50-both, 0, statistics.Confidence) <= f1 {
				right++
			}
		}
		if share := float64(right) / simulated; share < 0.95 {
			t.Errorf("agreement %g: the bound is right in %.4f of the runs", rate, share)
		}
	}
	if got := statistics.LowerF1(30, 0, 0, statistics.Confidence); math.Abs(got-0.95011) > 1e-4 {
		t.Errorf("30 of 30: %.5f", got)
	}
	if got := statistics.LowerF1(0, 0, 0, statistics.Confidence); got != 0 {
		t.Errorf("nothing found: %g", got)
	}
}
