package fault

import (
	"context"

	"github.com/interlock-harness/interlock/harness/edge"
)

// DyingConnection lets the first call on each connection through and cuts the
// connection at the first byte of the second answer: the second request was
// read and served, and a client library that finds its kept connection dead
// sends a request with an idempotency key again by itself.
func DyingConnection(ctx context.Context, w Wire) (*OnWire, error) {
	return w.on(ctx, "dying-connection", "one answer passes, the second is lost",
		func(c edge.Count) bool { return c.InDown > c.OutDown && c.OutDown > 0 }, edge.CutAfter(edge.Down, 1))
}
