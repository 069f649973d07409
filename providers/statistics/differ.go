package statistics

import "math"

// Differ is a p-value that two samples of words are drawn alike: how often each
// word was seen in a reference, and in a later sample. It is exact whatever the
// distribution is, as every division of the same answers into two such samples is
// as likely as any other; where the answers of a sample are tied to each other
// (the same questions in both) it is too large rather than too small.
//
// Two things are looked for, and p is twice the smaller of both: a word whose
// share changed (Fisher's test of each word, times the number of words), and words
// that the reference does not have at all. It is 1 where either sample is empty.
func Differ(reference, later map[string]int) float64 {
	n, m, words := 0, 0, map[string]int{}
	for w, k := range reference {
		n += k
		words[w] += k
	}
	for w, k := range later {
		m += k
		words[w] += k
	}
	if n == 0 || m == 0 {
		return 1
	}
	least, novel := 1.0, 0
	for w := range words {
		least = min(least, Fisher(later[w], m, reference[w], n))
		if reference[w] == 0 {
			novel += later[w]
		}
	}
	return min(1, 2*min(least*float64(len(words)), unseen(words, n, m, novel)))
}

// Fisher is the exact two-sided p-value that a and b come from the same rate: a of
// n trials in one sample, b of m in another.
func Fisher(a, n, b, m int) float64 {
	hits := a + b
	here := math.Exp(hypergeometric(a, n, m, hits))
	sum := 0.0
	for k := max(0, hits-m); k <= min(n, hits); k++ {
		if p := math.Exp(hypergeometric(k, n, m, hits)); p <= here*(1+1e-9) {
			sum += p
		}
	}
	return min(1, sum)
}

// hypergeometric is the logarithm of the chance of k of the hits in the first of
// two samples of n and m.
func hypergeometric(k, n, m, hits int) float64 {
	return choose(n, k) + choose(m, hits-k) - choose(n+m, hits)
}

// choose is the logarithm of a binomial coefficient.
func choose(n, k int) float64 {
	a, _ := math.Lgamma(float64(n + 1))
	b, _ := math.Lgamma(float64(k + 1))
	c, _ := math.Lgamma(float64(n - k + 1))
	return a - b - c
}

// unseen is the chance that, of all ways to take m answers out of n+m, those taken
// hold at least so many whose word is left nowhere in the rest. words counts both
// samples together.
func unseen(words map[string]int, n, m, atLeast int) float64 {
	if atLeast == 0 {
		return 1
	}
	// ways[j][v]: logarithm of the ways to take j answers of the words so far, v of
	// them with all of their word; v at atLeast stands for that or more.
	ways := make([][]float64, m+1)
	for j := range ways {
		ways[j] = make([]float64, atLeast+1)
		for v := range ways[j] {
			ways[j][v] = math.Inf(-1)
		}
	}
	ways[0][0] = 0
	for _, total := range words {
		for j := m; j >= 0; j-- { // downwards, so that each word is counted once
			for v := atLeast; v >= 0; v-- {
				ways[j][v] = wayInto(ways, total, j, v, atLeast)
			}
		}
	}
	return min(1, math.Exp(ways[m][atLeast]-choose(n+m, m)))
}

// wayInto sums the ways to come to j answers, v of them of words that are taken
// whole, by one more word of which there are total.
func wayInto(ways [][]float64, total, j, v, most int) float64 {
	sum := math.Inf(-1)
	for i := 0; i <= min(total, j); i++ {
		if i < total {
			sum = addLog(sum, ways[j-i][v]+choose(total, i))
			continue
		}
		for from := range ways[j-i] { // all of the word
			if min(most, from+i) == v {
				sum = addLog(sum, ways[j-i][from])
			}
		}
	}
	return sum
}

func addLog(a, b float64) float64 {
	if a < b {
		a, b = b, a
	}
	if math.IsInf(b, -1) {
		return a
	}
	return a + math.Log1p(math.Exp(b-a))
}
