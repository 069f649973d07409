package fault

import (
	"context"
	"fmt"

	"github.com/interlock-harness/interlock/harness/edge"
)

// LostRequest cuts the connection at the first byte of the request: nothing
// arrives. It is the twin of LostResponse.
func LostRequest(ctx context.Context, w Wire) (*OnWire, error) {
	return w.on(ctx, "lost-request", "0 bytes of the request pass",
		func(c edge.Count) bool { return c.InUp > 0 && c.OutUp == 0 }, edge.Cut(edge.Up, 0))
}

// CutRequest passes n bytes of the request, headers included, then cuts the
// connection: half a body arrives. n must be at least 1.
func CutRequest(ctx context.Context, w Wire, n int64) (*OnWire, error) {
	return w.on(ctx, "cut-request", fmt.Sprintf("%d bytes of the request pass", n),
		func(c edge.Count) bool { return c.InUp > n && c.OutUp == n }, edge.Cut(edge.Up, n))
}
