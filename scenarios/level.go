package scenarios

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/interlock-harness/interlock/harness/fault"
	"github.com/interlock-harness/interlock/harness/invariant"
	"github.com/interlock-harness/interlock/harness/stage"
	"github.com/interlock-harness/interlock/harness/target"
)

// needs leaves a spec out where the target cannot be looked into as deep as the
// spec needs, though its scenario can be played there.
func needs(level invariant.Level) {
	GinkgoHelper()
	if have := theLevel(); have < level {
		leaveOut(fmt.Sprintf("needs %s, the target is seen at %s", level, have))
	}
}

// leftOut are the scenarios of which a spec was left out, with the reason.
var leftOut struct {
	mu sync.Mutex
	of map[string]string
}

// leaveOut ends a spec that says nothing about this target.
func leaveOut(why string) {
	GinkgoHelper()
	leftOut.mu.Lock()
	if leftOut.of == nil {
		leftOut.of = map[string]string{}
	}
	leftOut.of[slugOf(CurrentSpecReport().ContainerHierarchyTexts)] = why
	leftOut.mu.Unlock()
	Skip(why)
}

// LeftOut returns the scenarios of which a spec was left out in this process, by
// slug, with the reason.
func LeftOut() map[string]string {
	leftOut.mu.Lock()
	defer leftOut.mu.Unlock()
	return maps.Clone(leftOut.of)
}

// at is what a scenario expects of a target that is seen at level: calls are
// counted (I7) only where the harness is the provider.
func (i Info) at(level invariant.Level) invariant.Expect {
	e := i.Expect
	if level < 1 {
		e.Invariants = slices.DeleteFunc(slices.Clone(e.Invariants), func(id invariant.ID) bool { return id == "I7" })
	}
	return e
}

// finishes waits until a job that nothing keeps from it has succeeded. At L0 the
// provider is the target's own, and any end will do.
func (w *World) finishes(ctx SpecContext, c *target.Client, job string) target.Job {
	GinkgoHelper()
	ends := []string{"succeeded"}
	if !w.sees(1) {
		ends = append(ends, "failed", "unknown")
	}
	done, err := w.Status(within(ctx, toComplete), c, job, ends...)
	w.expect(err).NotTo(HaveOccurred())
	return done
}

// isForeign says whether somebody else runs the target.
func isForeign() bool {
	theStage.mu.Lock()
	defer theStage.mu.Unlock()
	return theStage.options.Foreign != nil
}

// beginEnding opens the world of a scenario that ends the processes of its service:
// a service of its own with these options, or the whole of a foreign target, by the
// commands of its adapter. How that one is configured is its owner's to say.
func beginEnding(ctx SpecContext, o stage.ServiceOptions) *World {
	GinkgoHelper()
	if isForeign() {
		return begin(ctx)
	}
	return begin(ctx, stage.Isolated(o))
}

// backUp starts a foreign target that was ended, whose API went with its worker. On
// the stage the API is a process of its own, which goes on, and nothing is done.
func (w *World) backUp(ctx SpecContext, f *fault.OnProcess) {
	GinkgoHelper()
	if isForeign() {
		w.works(f.Heal(ctx))
	}
}

// expired is how long to wait for the lease of a dead worker to pass.
func (w *World) expired() time.Duration {
	if a := w.Adapter(); a != nil {
		return toExpire + a.Lease()
	}
	return toExpire
}

// ended is how long to wait for a process that was asked to end.
func (w *World) ended() time.Duration {
	if a := w.Adapter(); a != nil {
		return toArrive + a.CommandTimeout()
	}
	return toArrive
}

// Operator is a client with the operator's credential. A target for which there
// is none says nothing about what only an operator may do.
func (w *World) Operator() *target.Client {
	GinkgoHelper()
	w.OperatorKey()
	return w.World.Operator()
}

// OperatorKey is the operator's credential, where there is one: see Operator.
func (w *World) OperatorKey() string {
	GinkgoHelper()
	key, err := w.World.OperatorKey()
	if err != nil {
		leaveOut(err.Error())
	}
	return key
}

// theLevel is how deep the target of this process can be looked into.
func theLevel() invariant.Level {
	theStage.mu.Lock()
	defer theStage.mu.Unlock()
	if f := theStage.options.Foreign; f != nil {
		return f.Level()
	}
	return StageLevel
}

// sees says whether the target can be looked into as deep as level.
func (w *World) sees(level invariant.Level) bool { return theLevel() >= level }

// expectCalls expects that the provider was called n times, where the harness is
// the provider.
func (w *World) expectCalls(provider string, m stage.Match, n int) {
	GinkgoHelper()
	if w.sees(1) {
		w.expect(w.Provider(provider).Calls(m)).To(HaveLen(n), "calls at "+provider)
	}
}
