package statistics_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/interlock-harness/interlock/providers/statistics"
)

func TestTrialsWithoutAFailure(t *testing.T) {
	for rate, want := range map[float64]int{0.95: 59, 0.98: 149, 0.99: 299, 0.995: 598, 0.999: 2995} {
		if got := statistics.Trials(rate, 0, 0.95); got != want {
			t.Errorf("%v: %d trials, want %d", rate, got, want)
		}
	}
	for failures, want := range map[int]int{1: 473, 2: 628, 3: 773} {
		if got := statistics.Trials(0.99, failures, 0.95); got != want {
			t.Errorf("0.99 with %d failures: %d trials, want %d", failures, got, want)
		}
	}
}

func TestLowerBounds(t *testing.T) {
	cases := []struct {
		passes, n int
		want      float64
	}{
		{0, 0, 0}, {0, 10, 0}, {10, 10, 0.741134}, {9, 10, 0.605837}, {5, 10, 0.222441}, {1, 10, 0.005116},
		{30, 30, 0.904966}, {29, 30, 0.851404}, {299, 299, 0.990031}, {297, 299, 0.979095},
	}
	for _, c := range cases {
		if got := statistics.Lower(c.passes, c.n, 0.95); math.Abs(got-c.want) > 2e-6 {
			t.Errorf("%d of %d: %.6f, want %.6f", c.passes, c.n, got, c.want)
		}
	}
	if got := statistics.Upper(0, 30, 0.95); math.Abs(got-(1-0.904966)) > 2e-6 {
		t.Errorf("upper bound %.6f", got)
	}
	// The bound is where the chance of the result, or a better one, is 5 %.
	for n := 1; n <= 60; n++ {
		for k := 1; k <= n; k++ {
			if p := statistics.AtLeast(k, n, statistics.Lower(k, n, 0.95)); math.Abs(p-0.05) > 1e-9 {
				t.Fatalf("%d of %d: chance %v at the bound", k, n, p)
			}
		}
	}
}

func TestPassAll(t *testing.T) {
	for rate, want := range map[float64]string{0.99: "0.923", 0.98: "0.851"} {
		if got := fmt.Sprintf("%.3f", statistics.PassAll(rate, 8)); got != want {
			t.Errorf("pass^8 of %v: %s", rate, got)
		}
	}
}

func TestSequentialDecidesEarlyAndRight(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	run := func(rate float64) (statistics.Decision, int) {
		s := statistics.Sequential{Good: 0.999, Bad: 0.99, Alpha: 0.05, Beta: 0.05}
		for n := 1; ; n++ {
			if d := s.Observe(r.Float64() < rate); d != statistics.Go || n == 20000 {
				return d, n
			}
		}
	}
	wrong, trials := 0, 0
	for range 500 {
		if d, n := run(0.9999); d != statistics.Accept {
			wrong++
		} else {
			trials += n
		}
		if d, _ := run(0.97); d != statistics.Reject {
			wrong++
		}
	}
	if wrong > 25 {
		t.Errorf("%d of 1000 wrong", wrong)
	}
	if mean := trials / 500; mean > 600 {
		t.Errorf("needs %d trials for a clear case", mean)
	}
}

func TestPairs(t *testing.T) {
	if p := statistics.McNemar(0, 0); p != 1 {
		t.Error(p)
	}
	if p := statistics.McNemar(8, 1); math.Abs(p-0.0390625) > 1e-12 {
		t.Error(p)
	}
	if p := statistics.McNemar(3, 3); p != 1 {
		t.Error(p)
	}
	if f := statistics.F1(8, 1, 3); math.Abs(f-0.8) > 1e-12 {
		t.Error(f)
	}
	if statistics.F1(0, 0, 0) != 1 || statistics.F1(0, 1, 0) != 0 {
		t.Error("edges")
	}
}
