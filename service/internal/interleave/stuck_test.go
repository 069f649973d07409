package interleave

import (
	"maps"
	"slices"
	"testing"
)

// Who waits for a session whose own statement still runs is not stuck yet: that
// one may let the row go without having taken it.
func TestWhoIsStuckWaitsForTheGateOrForEachOther(t *testing.T) {
	for _, c := range []struct {
		name    string
		states  []state
		behind  map[int]mask
		changed mask
		want    []int
	}{
		{"behind one at the gate", []state{ready, moving}, map[int]mask{1: bit(0)}, 0, []int{1}},
		{"behind nobody", []state{ready, moving}, map[int]mask{1: 0}, 0, nil},
		{"behind one whose statement runs", []state{ready, moving, moving}, map[int]mask{1: 0, 2: bit(1)}, 0, nil},
		{"in a row behind one at the gate", []state{ready, moving, moving}, map[int]mask{1: bit(0), 2: bit(1)}, 0, []int{1, 2}},
		{"behind one that waits already", []state{ready, waiting, moving}, map[int]mask{2: bit(1)}, 0, []int{2}},
		{"for each other", []state{moving, moving}, map[int]mask{0: bit(1), 1: bit(0)}, 0, []int{0, 1}},
		{"in a row, one answer changed", []state{ready, moving, moving}, map[int]mask{1: bit(0), 2: bit(1)}, bit(1), nil},
	} {
		got := slices.Sorted(maps.Keys(stuck(c.states, c.behind, c.changed)))
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v are stuck, not %v", c.name, got, c.want)
		}
	}
}
