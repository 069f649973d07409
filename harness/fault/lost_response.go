package fault

import (
	"context"
	"fmt"

	"github.com/interlock-harness/interlock/harness/edge"
)

// LostResponse lets requests through and cuts the connection at the first
// byte of the response: the work is done and who asked for it never hears of
// it. Its twin is LostRequest, after which nothing was done; who asked cannot
// tell the two apart.
func LostResponse(ctx context.Context, w Wire) (*OnWire, error) {
	return w.on(ctx, "lost-response", "0 bytes of the response pass",
		func(c edge.Count) bool { return c.OutUp > 0 && c.InDown > 0 && c.OutDown == 0 }, edge.Cut(edge.Down, 0))
}

// CutResponse passes n bytes of the response, headers included, then cuts the
// connection. n must be at least 1.
func CutResponse(ctx context.Context, w Wire, n int64) (*OnWire, error) {
	return w.on(ctx, "cut-response", fmt.Sprintf("%d bytes of the response pass", n),
		func(c edge.Count) bool { return c.InDown > n && c.OutDown == n }, edge.Cut(edge.Down, n))
}
