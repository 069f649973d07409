package fault

import (
	"context"
	"fmt"

	"github.com/interlock-harness/interlock/harness/edge"
)

// Stalled is a fault that holds bytes until it is told to let go.
type Stalled struct {
	*OnWire
	gate *edge.Gate
}

// StallResponse holds the response until Release: the request got through,
// and nothing is lost.
func StallResponse(ctx context.Context, w Wire) (*Stalled, error) {
	g := edge.NewGate("stall-response")
	return stall(ctx, w, "stall-response", "the response is held", g, g.Hold(edge.Down))
}

// StallRequest holds the request until Release.
func StallRequest(ctx context.Context, w Wire) (*Stalled, error) {
	g := edge.NewGate("stall-request")
	return stall(ctx, w, "stall-request", "the request is held", g, g.Hold(edge.Up))
}

// stall arms a gate; the fault fires when something is held there.
func stall(ctx context.Context, w Wire, name, detail string, g *edge.Gate, hold edge.Toxic) (*Stalled, error) {
	f, ready := &Stalled{gate: g}, make(chan struct{})
	g.OnArrival(func() { // somebody may be quicker than this function
		<-ready
		f.fire("held: " + f.Count().String())
	})
	var err error
	f.OnWire, err = w.on(ctx, name, detail, nil, hold)
	if err != nil {
		return nil, err
	}
	close(ready)
	return f, nil
}

// Arrived is closed when the first bytes are held.
func (f *Stalled) Arrived() <-chan struct{} { return f.gate.Arrived() }

// Release lets everything through, now and later.
func (f *Stalled) Release() { f.gate.Release() }

// Heal lets go and drops the proxy.
func (f *Stalled) Heal(ctx context.Context) error {
	f.gate.Release()
	if err := f.OnWire.Heal(ctx); err != nil {
		return fmt.Errorf("%s: %w", f.name, err)
	}
	return nil
}
