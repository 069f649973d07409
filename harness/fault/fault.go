// Package fault holds what can go wrong between the parts of an experiment,
// one fault per file: on the wire between client and API, worker and provider,
// service and PostgreSQL, in a row's lock, and to a process.
//
// The rule they keep: a fault is in place when its constructor returns, it can
// tell whether it acted and how that is known (Fired, Evidence), it can be
// lifted (Heal), and all three are in the history. A fault that did not fire
// makes a scenario inconclusive, never green.
package fault

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/interlock-harness/interlock/harness/edge"
	"github.com/interlock-harness/interlock/harness/history"
)

// Bounds of everything that waits.
const (
	toControl = 10 * time.Second       // one step of a fault: a connection, a statement, a signal
	toHeal    = 30 * time.Second       // PostgreSQL's recovery included
	between   = 500 * time.Microsecond // two looks at something that will come
)

// The edges, as the history names them.
const (
	ClientAPI      = "client-api"
	APIPostgres    = "api-postgres"
	WorkerProvider = "worker-provider"
	Processes      = "process"
)

// Fault is one fault in place.
type Fault interface {
	// Name is the fault's name in the history: lost-response.
	Name() string
	// Fired says whether the fault acted.
	Fired() bool
	// Evidence is how that is known, "" before it fired.
	Evidence() string
	// Heal lifts the fault. It may be called more than once.
	Heal(ctx context.Context) error
}

// state is what all faults share: their life in the history.
type state struct {
	name   string
	record *history.Fault

	mu       sync.Mutex
	evidence string
	fired    chan struct{}
	healed   bool
}

// arm records that a fault is in place.
func arm(rec *history.Recorder, name, edge, detail string) *state {
	return armed(rec, name, history.FaultFacts{Edge: edge, Detail: detail})
}

// armed is arm for a fault that says more of itself.
func armed(rec *history.Recorder, name string, facts history.FaultFacts) *state {
	return &state{name: name, fired: make(chan struct{}), record: rec.Armed(name, facts)}
}

// Name implements Fault.
func (s *state) Name() string { return s.name }

// Fired implements Fault.
func (s *state) Fired() bool {
	select {
	case <-s.fired:
		return true
	default:
		return false
	}
}

// Evidence implements Fault.
func (s *state) Evidence() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.evidence
}

// Await waits until the fault acted.
func (s *state) Await(ctx context.Context) error {
	select {
	case <-s.fired:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("fault %s did not fire: %w", s.name, ctx.Err())
	}
}

// fire records, once, that the fault acted.
func (s *state) fire(evidence string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.evidence != "" || s.healed {
		return
	}
	s.evidence = evidence
	s.record.Fired(evidence)
	close(s.fired)
}

// heal records, once, that the fault acts no more. It returns false when that
// was recorded before.
func (s *state) heal() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.healed {
		return false
	}
	s.healed = true
	s.record.Healed()
	return true
}

// watch fires s as soon as the counts of a proxy prove that it acted, until
// the returned function is called, which looks a last time.
func (s *state) watch(meter *edge.Meter, proven func(edge.Count) bool) (stop func()) {
	quit, done := make(chan struct{}), make(chan struct{})
	look := func() bool {
		if c := meter.Count(); proven(c) {
			s.fire(c.String())
			return true
		}
		return false
	}
	go func() {
		defer close(done)
		for {
			changed := meter.Changed() // before looking: no change is missed
			if look() {
				return
			}
			select {
			case <-changed:
			case <-quit:
				look()
				return
			}
		}
	}()
	var once sync.Once
	return func() { once.Do(func() { close(quit) }); <-done }
}
