package fault

import (
	"context"

	"github.com/interlock-harness/interlock/harness/edge"
)

// BlackHole takes every request and never passes it on, nor answers.
func BlackHole(ctx context.Context, w Wire) (*OnWire, error) {
	return w.on(ctx, "black-hole", "requests disappear",
		func(c edge.Count) bool { return c.InUp > 0 && c.OutUp == 0 }, edge.Swallow(edge.Up))
}
