package statistics_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/interlock-harness/interlock/providers/statistics"
)

func TestFisherAgreesWithTheTableOfTeas(t *testing.T) {
	for _, c := range []struct {
		a, n, b, m int
		want       float64
	}{
		{3, 4, 1, 4, 34.0 / 70}, // Fisher's own example, both sides
		{4, 4, 0, 4, 2.0 / 70},
		{0, 64, 0, 240, 1},
		{5, 10, 5, 10, 1},
	} {
		if got := statistics.Fisher(c.a, c.n, c.b, c.m); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%d of %d, %d of %d: %g, want %g", c.a, c.n, c.b, c.m, got, c.want)
		}
	}
}

// TestDifferAgreesWithAllDivisions counts all ways to divide a few answers.
func TestDifferAgreesWithAllDivisions(t *testing.T) {
	// Of the six answers a a a b b c, the two last that are taken are b b: of all 15
	// pairs, {b b} has two answers that are left nowhere; {c x} has one.
	got := statistics.Differ(map[string]int{"a": 3, "c": 1}, map[string]int{"b": 2})
	// Two new words: 1 of 15 ways. Fisher of b: 2 of 2 and 0 of 4 is 1/15, times three words.
	if want := 2.0 / 15; math.Abs(got-want) > 1e-9 {
		t.Errorf("%g, want %g", got, want)
	}
	got = statistics.Differ(map[string]int{"a": 3, "b": 2}, map[string]int{"c": 1})
	if want := 2.0 / 6; math.Abs(got-want) > 1e-9 { // one new word: 1 of 6 ways
		t.Errorf("%g, want %g", got, want)
	}
	for name, pair := range map[string][2]map[string]int{
		"nothing before": {{}, {"a": 3}}, "nothing since": {{"a": 3}, {}}, "the same": {{"stop": 240}, {"stop": 64}},
	} {
		if p := statistics.Differ(pair[0], pair[1]); p != 1 {
			t.Errorf("%s: %g", name, p)
		}
	}
}

// TestDifferIsBelowALevelNoMoreOftenThanTheLevel draws both samples alike, also with
// many rare words, where a reference of some answers has not seen all there are.
func TestDifferIsBelowALevelNoMoreOftenThanTheLevel(t *testing.T) {
	const tries, level = 200, 0.05
	for name, shares := range map[string][]float64{
		"one word": {1}, "nearly one word": {0.98, 0.02}, "even": {0.5, 0.5}, "some": {0.6, 0.3, 0.05, 0.05}, "long tail": tail(200),
	} {
		r := rand.New(rand.NewPCG(5, 8))
		low := 0
		for range tries {
			if statistics.Differ(draw(r, shares, 240), draw(r, shares, 64)) <= level {
				low++
			}
		}
		// 10 are allowed; more than 22 would be seen of an exact test once in some thousand runs.
		if low > 22 {
			t.Errorf("%s: p is at most %g in %d of %d", name, level, low, tries)
		}
	}
}

func TestDifferSeesWhatChanged(t *testing.T) {
	for name, c := range map[string]struct{ before, since map[string]int }{
		"one in ten is new":      {map[string]int{"stop": 240}, map[string]int{"stop": 57, "tool": 7}},
		"ten new words once":     {map[string]int{"a": 120, "b": 120}, map[string]int{"a": 27, "b": 27, "c": 1, "d": 1, "e": 1, "f": 1, "g": 1, "h": 1, "i": 1, "j": 1, "k": 1, "l": 1}},
		"a share that went over": {map[string]int{"a": 200, "b": 40}, map[string]int{"a": 32, "b": 32}},
	} {
		if p := statistics.Differ(c.before, c.since); p > 1e-4 {
			t.Errorf("%s: p is %g", name, p)
		}
	}
}

func tail(n int) []float64 {
	shares, left := make([]float64, n), 1.0
	for i := range shares {
		shares[i] = left * 0.05
		left -= shares[i]
	}
	shares[0] += left
	return shares
}

func draw(r *rand.Rand, shares []float64, n int) map[string]int {
	counts := map[string]int{}
	for range n {
		at, x := 0, r.Float64()
		for x >= shares[at] && at < len(shares)-1 {
			x -= shares[at]
			at++
		}
		counts[fmt.Sprint(at)]++
	}
	return counts
}
