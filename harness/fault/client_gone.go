package fault

import (
	"context"

	"github.com/interlock-harness/interlock/harness/history"
)

// Gone is a client that goes away before it has its answer.
type Gone struct {
	*state
	leave context.CancelFunc
}

// ClientGone returns a context for one call of a client, and a fault that ends
// it: the connection closes while the request is being worked on.
func ClientGone(ctx context.Context, rec *history.Recorder, name string) (context.Context, *Gone) {
	ctx, cancel := context.WithCancel(ctx)
	return ctx, &Gone{state: arm(rec, "client-gone", ClientAPI, name+" goes away"), leave: cancel}
}

// Leave ends the call. when says what had happened by then, which is the
// evidence that the call was under way.
func (f *Gone) Leave(when string) {
	f.leave()
	f.fire("left when " + when)
}

// Heal implements Fault.
func (f *Gone) Heal(context.Context) error {
	f.leave()
	f.heal()
	return nil
}
