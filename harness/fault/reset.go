package fault

import (
	"context"

	"github.com/interlock-harness/interlock/harness/edge"
)

// ResetResponse lets requests through and answers with a reset (RST) instead
// of the response.
func ResetResponse(ctx context.Context, w Wire) (*OnWire, error) {
	return w.on(ctx, "reset-response", "a reset instead of the response",
		func(c edge.Count) bool { return c.OutUp > 0 && c.InDown > 0 && c.OutDown == 0 }, edge.Reset(edge.Down))
}

// ResetRequest drops the request and answers with a reset (RST). Connecting
// has worked: it is not the same as a refused connection.
func ResetRequest(ctx context.Context, w Wire) (*OnWire, error) {
	return w.on(ctx, "reset-request", "a reset instead of taking the request",
		func(c edge.Count) bool { return c.InUp > 0 && c.OutUp == 0 }, edge.Reset(edge.Up))
}
