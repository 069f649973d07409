// Package statistics holds the exact numbers behind a verdict: the lower bound
// of a pass rate, the chance that k repeats all pass, the sequential test and the
// test for a difference in pairs. Everything is computed from the binomial
// distribution itself; nothing is approximated by a normal one.
//
// The unit is a case. Repeats of one case are not independent of each other, so
// they never make n larger.
package statistics

import "math"

// Confidence of the bounds that certificates state.
const Confidence = 0.95

// Lower returns the one-sided Clopper-Pearson lower bound of the pass rate after
// passes of n independent trials: with at least the given confidence the true
// rate is not below it. It is 0 without trials or passes.
func Lower(passes, n int, confidence float64) float64 {
	if n <= 0 || passes <= 0 {
		return 0
	}
	if passes >= n {
		return math.Pow(1-confidence, 1/float64(n))
	}
	// The rate at which so many passes or more have a chance of 1 - confidence.
	return root(func(p float64) float64 { return AtLeast(passes, n, p) - (1 - confidence) })
}

// Upper returns the one-sided upper bound.
func Upper(passes, n int, confidence float64) float64 {
	if n <= 0 || passes >= n {
		return 1
	}
	return 1 - Lower(n-passes, n, confidence)
}

// AtLeast is the chance of k or more passes in n trials of rate p.
func AtLeast(k, n int, p float64) float64 {
	switch {
	case k <= 0 || p >= 1:
		return 1
	case k > n || p <= 0:
		return 0
	case k > n-k: // the shorter tail is summed
		return tail(k, n, n, p)
	}
	return 1 - tail(0, k-1, n, p)
}

// tail sums the chances of from to to passes of n, small terms first.
func tail(from, to, n int, p float64) float64 {
	all, _ := math.Lgamma(float64(n + 1))
	sum := 0.0
	for i := from; i <= to; i++ {
		a, _ := math.Lgamma(float64(i + 1))
		b, _ := math.Lgamma(float64(n - i + 1))
		sum += math.Exp(all - a - b + float64(i)*math.Log(p) + float64(n-i)*math.Log1p(-p))
	}
	return min(sum, 1)
}

// root finds where a rising function of a rate crosses zero.
func root(f func(float64) float64) float64 {
	low, high := 0.0, 1.0
	for range 100 {
		if mid := (low + high) / 2; f(mid) < 0 {
			low = mid
		} else {
			high = mid
		}
	}
	return low
}

// Trials is the smallest number of trials that, with at most so many failures,
// has a lower bound of at least rate.
func Trials(rate float64, failures int, confidence float64) int {
	low, high := failures+1, failures+2
	for Lower(high-failures, high, confidence) < rate {
		low, high = high, high*2
	}
	for low < high {
		if mid := (low + high) / 2; Lower(mid-failures, mid, confidence) < rate {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low
}

// PassAll is the chance that k independent repeats all pass at a rate.
func PassAll(rate float64, k int) float64 { return math.Pow(rate, float64(k)) }
