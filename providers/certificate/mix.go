package certificate

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/interlock-harness/interlock/providers/statistics"
)

// mix compares how often each word is seen with how often it was in the run of a
// certificate, window by window.
//
// A provider that stays as it was is suspected with a chance of at most mixAlpha,
// however long it is watched: the test of each window is exact, and window number i
// may spend mixAlpha/(i(i+1)), which all together is mixAlpha.
type mix struct {
	baseline map[string]int
	window   map[string]int
	n        int // answers in the window
	windows  int // that were full
	change   string
}

const (
	mixWindow = 64    // answers: of a change in one of ten, 99.9 % of windows show something
	mixAlpha  = 0.001 // chance to ever suspect a provider that did not change
)

// observe takes one word and reports whether the window that it fills is another
// mix than the baseline.
func (m *mix) observe(word string) bool {
	if len(m.baseline) == 0 {
		return false
	}
	if m.window == nil {
		m.window = map[string]int{}
	}
	m.window[word]++
	if m.n++; m.n < mixWindow {
		return false
	}
	m.windows++
	p := statistics.Differ(m.baseline, m.window)
	if p <= mixAlpha/float64(m.windows)/float64(m.windows+1) {
		m.change = fmt.Sprintf("%s among the last %d, %s then (p = %.1g)", counts(m.window), m.n, counts(m.baseline), p)
		m.window, m.n = nil, 0
		return true
	}
	m.window, m.n = nil, 0
	return false
}

// counts writes the most frequent words.
func counts(words map[string]int) string {
	names := slices.SortedFunc(maps.Keys(words), func(a, b string) int {
		return cmp.Or(cmp.Compare(words[b], words[a]), cmp.Compare(a, b))
	})
	var parts []string
	for _, w := range names[:min(4, len(names))] {
		parts = append(parts, fmt.Sprintf("%d %s", words[w], shown(w)))
	}
	if more := len(names) - len(parts); more > 0 {
		parts = append(parts, fmt.Sprintf("%d others", more))
	}
	return strings.Join(parts, ", ")
}
