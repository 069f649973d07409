package fault

import (
	"context"
	"fmt"
	"time"

	"github.com/interlock-harness/interlock/harness/edge"
	"github.com/interlock-harness/interlock/harness/history"
)

// StalledPostgres is a database that takes what the service sends and does
// nothing with it: soon every connection of the pool is busy.
type StalledPostgres struct {
	*state
	relay *edge.Postgres
	stall *edge.Stall
}

// StallPostgres holds everything that the service sends to PostgreSQL from now
// on, on every connection, until Heal.
func StallPostgres(rec *history.Recorder, relay *edge.Postgres) *StalledPostgres {
	f := &StalledPostgres{state: arm(rec, "postgres-stall", APIPostgres, "what is sent to PostgreSQL is held"), relay: relay}
	f.stall = relay.Stall()
	return f
}

// Held counts the connections that wait.
func (f *StalledPostgres) Held() int { return f.stall.Held() }

// Await waits until n connections wait: with n the size of the pool, the pool
// is exhausted. The fault has fired.
func (f *StalledPostgres) Await(ctx context.Context, n int) error {
	tick := time.NewTicker(between)
	defer tick.Stop()
	for {
		if held := f.Held(); held >= n {
			f.fire(fmt.Sprintf("%d connections wait", held))
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s: %d of %d connections wait: %w", f.name, f.Held(), n, ctx.Err())
		case <-tick.C:
		}
	}
}

// Heal lets everything go on.
func (f *StalledPostgres) Heal(context.Context) error {
	f.relay.Resume(f.stall)
	f.heal()
	return nil
}
