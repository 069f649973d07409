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

// F1 is the harmonic mean of precision and recall; 1 when there was nothing to
// find and nothing was found.
func F1(both, firstOnly, secondOnly int) float64 {
	if both+firstOnly+secondOnly == 0 {
		return 1
	}
	return 2 * float64(both) / float64(2*both+firstOnly+secondOnly)
}
