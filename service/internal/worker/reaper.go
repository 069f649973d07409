package worker

import (
	"context"
	"log/slog"
	"time"
)

// Leases are those of workers that may be gone.
type Leases interface {
	ReapLeases(ctx context.Context) (reaped int, err error)
}

// Reap marks attempts unknown whose worker stopped renewing its lease, every
// so often until ctx ends. Every process runs it, also one without a worker: when
// the only worker is killed, somebody must still say unknown.
func Reap(ctx context.Context, leases Leases, every time.Duration, log *slog.Logger) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		n, err := leases.ReapLeases(ctx)
		if n > 0 {
			log.Warn("leases passed: attempts are unknown now", "attempts", n)
		}
		if err != nil && ctx.Err() == nil {
			log.Warn("reap leases", "error", err)
		}
	}
}
