package scenarios

import (
	. "github.com/onsi/ginkgo/v2"

	"github.com/interlock-harness/interlock/harness/invariant"
	"github.com/interlock-harness/interlock/harness/target"
)

var doubleClickTwoReplicas = Info{
	Number: 2, Slug: "double-click-two-replicas", Title: "two clicks that meet two replicas make one job", Group: Submit, Level: 0,
	Fault:  "two identical POSTs are released from one barrier, one to each API replica",
	Expect: invariant.Expect{Invariants: []invariant.ID{"I1"}},
	Labels: []string{Breakpoints},
}

var _ = Describe(doubleClickTwoReplicas.text(), about(doubleClickTwoReplicas), func() {
	It("answers both clicks with the same job", func(ctx SpecContext) {
		w := begin(ctx)
		for round := range 16 {
			name := nth("click", round)
			answers := together(2, func(i int) (target.Job, error) {
				replica := w.Service.Replica(i + 1).URL()
				return w.Client(nth("client", i)).Through(replica).Submit(ctx, w.Key(name), w.Intent(name))
			})
			w.expectOneJob(answers)
		}
	}, SpecTimeout(toPlay))
})
