package fault

import (
	"context"
	"fmt"
	"time"

	"github.com/interlock-harness/interlock/harness/edge"
)

// SlowRequest lets the request drip: size bytes, then a pause, and so on.
func SlowRequest(ctx context.Context, w Wire, size int, pause time.Duration) (*OnWire, error) {
	return w.on(ctx, "slow-request", fmt.Sprintf("about %d bytes every %s", size, pause),
		func(c edge.Count) bool { return c.OutUp > int64(size) }, edge.Slice(edge.Up, size, pause))
}

// SlowResponse is SlowRequest for the response.
func SlowResponse(ctx context.Context, w Wire, size int, pause time.Duration) (*OnWire, error) {
	return w.on(ctx, "slow-response", fmt.Sprintf("about %d bytes every %s", size, pause),
		func(c edge.Count) bool { return c.OutDown > int64(size) }, edge.Slice(edge.Down, size, pause))
}
