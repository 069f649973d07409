package fault

import (
	"context"

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
	return stall(ctx, w, "stall-response", "the response is held", edge.Down)
}

// StallRequest holds the request until Release.
func StallRequest(ctx context.Context, w Wire) (*Stalled, error) {
	return stall(ctx, w, "stall-request", "the request is held", edge.Up)
}

func stall(ctx context.Context, w Wire, name, detail string, s edge.Stream) (*Stalled, error) {
	gate := edge.NewGate(name)
	proven := func(c edge.Count) bool {
		held := c.InDown - c.OutDown
		if s == edge.Up {
			held = c.InUp - c.OutUp
		}
		return held > 0 && !gate.Open()
	}
	on, err := w.on(ctx, name, detail, proven, gate.Hold(s))
	if err != nil {
		return nil, err
	}
	return &Stalled{OnWire: on, gate: gate}, nil
}

// Arrived is closed when the first bytes are held.
func (f *Stalled) Arrived() <-chan struct{} { return f.gate.Arrived() }

// Release lets everything through, now and later.
func (f *Stalled) Release() { f.gate.Release() }

// Heal lets go and drops the proxy.
func (f *Stalled) Heal(ctx context.Context) error {
	f.gate.Release()
	return f.OnWire.Heal(ctx)
}
