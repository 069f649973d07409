package statistics

// McNemar is the exact two-sided p-value that two providers, tried on the same
// cases, do not differ: firstOnly and secondOnly count the cases that only one
// of them passed.
func McNemar(firstOnly, secondOnly int) float64 {
	n := firstOnly + secondOnly
	if n == 0 {
		return 1
	}
	return min(1, 2*AtLeast(max(firstOnly, secondOnly), n, 0.5))
}

// LowerF1 is the one-sided lower bound of F1. Given how many cases either side
// found, the number that both found is binomial; F1 rises with its rate, so the
// exact bound of the one is that of the other. It is 0 where neither found any.
func LowerF1(both, firstOnly, secondOnly int, confidence float64) float64 {
	j := Lower(both, both+firstOnly+secondOnly, confidence)
	return 2 * j / (1 + j)
}

// F1 is the harmonic mean of precision and recall; 1 when there was nothing to
// find and nothing was found.
func F1(both, firstOnly, secondOnly int) float64 {
	if both+firstOnly+secondOnly == 0 {
		return 1
	}
	return 2 * float64(both) / float64(2*both+firstOnly+secondOnly)
}
