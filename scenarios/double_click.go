package scenarios

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/interlock-harness/interlock/harness/invariant"
	"github.com/interlock-harness/interlock/harness/target"
)

var doubleClick = Info{
	Number: 1, Slug: "double-click", Title: "two identical clicks at once make one job", Group: Submit, Level: 0,
	Fault:  "two identical POSTs are released from one barrier, sixty-four times",
	Expect: invariant.Expect{Invariants: []invariant.ID{"I1"}},
	Labels: []string{Breakpoints},
}

var _ = Describe(doubleClick.text(), about(doubleClick), func() {
	It("answers both clicks with the same job", func(ctx SpecContext) {
		w := begin(ctx)
		one := w.Service.Replica(1).URL()
		for round := range 64 {
			name := nth("click", round)
			answers := together(2, func(i int) (target.Job, error) {
				return w.Client(nth("client", i)).Through(one).Submit(ctx, w.Key(name), w.Intent(name))
			})
			w.expect(idsOf(answers)).To(HaveLen(1), "both clicks name one job")
			w.expect(created(answers)).To(Equal(1), "one click made the job, the other found it")
		}
	}, SpecTimeout(toPlay))
})
