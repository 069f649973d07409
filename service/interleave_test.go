package service

import (
	"testing"

	"github.com/interlock-harness/interlock/service/internal/interleave"
)

func TestWhatAHuntOfMutantsComesTo(t *testing.T) {
	found, survived, redundant := interleave.Hunted{Found: true}, interleave.Hunted{}, interleave.Hunted{Beyond: "asked twice"}
	control := tally{Schedules: 1}
	for _, c := range []struct {
		name    string
		control tally
		hunted  []interleave.Hunted
		want    int
	}{
		{"all found, or redundant", control, []interleave.Hunted{found, redundant}, 0},
		{"one survived", control, []interleave.Hunted{found, survived}, 1},
		{"found, though marked as redundant", control, []interleave.Hunted{found, {Found: true, Beyond: "asked twice"}}, 1},
		{"none found", control, []interleave.Hunted{redundant}, 2},
		{"the clean store is accused", tally{Schedules: 1, Control: 1}, []interleave.Hunted{found}, 2},
		{"the clean store was not decided", tally{Schedules: 1, Undecided: 1}, []interleave.Hunted{found}, 2},
		{"the clean store was not played", tally{}, []interleave.Hunted{found}, 2},
	} {
		count := c.control
		for _, h := range c.hunted {
			count.add(h)
		}
		if got := count.comesTo(); got != c.want {
			t.Errorf("%s: exit %d, not %d", c.name, got, c.want)
		}
	}
}
