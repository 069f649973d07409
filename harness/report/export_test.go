package report

import (
	"slices"

	"github.com/interlock-harness/interlock/harness/history"
)

// DrawStored makes the picture of the one play of a stored history.
func DrawStored(all []history.Event) Picture {
	own := slices.DeleteFunc(slices.Clone(all), func(e history.Event) bool { return e.Scenario == "" })
	return Draw(own, NewLabels(own), clockOf(all))
}
