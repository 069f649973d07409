package fault

import (
	"context"
	"fmt"

	"github.com/interlock-harness/interlock/harness/edge"
	"github.com/interlock-harness/interlock/harness/history"
)

// Duplicated is a balancer that delivers requests of one key twice.
type Duplicated struct {
	*state
	balancer *edge.Balancer
	key      string
	before   int
}

// Duplicate makes the balancer deliver requests with this idempotency key to
// two replicas: at once (edge.Both), or to the second after the answer of the
// first was lost (edge.AfterLoss).
func Duplicate(rec *history.Recorder, b *edge.Balancer, key string, how edge.Delivery) *Duplicated {
	f := &Duplicated{state: arm(rec, "duplicate-delivery", ClientAPI, "requests with key "+key+" are delivered "+string(how)), balancer: b, key: key, before: b.Delivered(key)}
	b.Misdeliver(key, how)
	return f
}

// Fired implements Fault: it asks the balancer.
func (f *Duplicated) Fired() bool {
	if n := f.balancer.Delivered(f.key) - f.before; n >= 2 {
		f.fire(fmt.Sprintf("%d deliveries", n))
	}
	return f.state.Fired()
}

// Heal delivers once again.
func (f *Duplicated) Heal(context.Context) error {
	f.Fired()
	f.balancer.Misdeliver(f.key, edge.Once)
	f.heal()
	return nil
}
