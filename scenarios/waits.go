package scenarios

import (
	"context"
	"time"

	"github.com/onsi/ginkgo/v2"

	"github.com/interlock-harness/interlock/harness/stage"
)

// All bounds of the scenarios. None of them decides an order: they only end a
// wait for something that should long have happened. toStayPut is the other way
// round: so long a scenario looks for what must not happen, after everything that
// could cause it has. On a slow machine it may miss a careless service; it never
// accuses a right one.
const (
	toArrive   = 3 * time.Second // a call at a gate, a waiter at a lock, a fault that fires
	toComplete = 3 * time.Second // a job that nothing keeps from being finished
	toExpire   = 3 * time.Second // a deadline or lease of a few hundred milliseconds, and the reaper after it
	toRecover  = 8 * time.Second // after an outage of the database, with the back-off of everybody who tried
	toStayPut  = 150 * time.Millisecond
	toDrain    = 4 * time.Second  // everything, after all faults are lifted
	toEnd      = 20 * time.Second // drain, read, judge, and take down an own service
	toPlay     = 90 * time.Second // one whole spec with its end; the first one also sets the stage
)

// soon is a soft deadline that a scenario wants to see pass.
const soon = 120 * time.Millisecond

// calm is a lease that does not pass while a scenario looks on.
const calm = 60 * time.Second

// within bounds one wait of a spec.
func within(ctx ginkgo.SpecContext, bound time.Duration) context.Context {
	bounded, cancel := context.WithTimeout(ctx, bound)
	ginkgo.DeferCleanup(cancel)
	return bounded
}

// awaits waits until a fault acted.
func awaits(ctx ginkgo.SpecContext, f interface{ Await(context.Context) error }) error {
	what := "a fault has acted"
	if named, ok := f.(interface{ Name() string }); ok {
		what = "fault " + named.Name() + " has acted"
	}
	defer stage.Waits(what)()
	return f.Await(within(ctx, toArrive))
}
