package scenarios

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/interlock-harness/interlock/harness/invariant"
	"github.com/interlock-harness/interlock/harness/stage"
	"github.com/interlock-harness/interlock/harness/target"
)

var doubleClick = Info{
	Number: 1, Slug: "double-click", Title: "two identical clicks at once make one job", Group: Submit, Level: 0,
	Fault:  "two identical POSTs at once: from one barrier, and with the first held just before its COMMIT",
	Expect: invariant.Expect{Invariants: []invariant.ID{"I1"}},
	Labels: []string{Breakpoints},
}

var _ = Describe(doubleClick.text(), about(doubleClick), func() {
	It("answers both clicks with the same job", func(ctx SpecContext) {
		w := begin(ctx)
		one := w.Service.Replica(1).URL()
		for round := range 16 {
			name := nth("click", round)
			answers := together(2, func(i int) (target.Job, error) {
				return w.Client(nth("client", i)).Through(one).Submit(ctx, w.Key(name), w.Intent(name))
			})
			w.expectOneJob(answers)
		}
	}, SpecTimeout(toPlay))

	It("has the second click wait for the first, which is stored and not yet committed", func(ctx SpecContext) {
		needs(2)
		w := begin(ctx)
		w.breaks("hold-commit")
		held, err := w.HoldCommit(stage.Victim(w.Key("a")))
		w.works(err)
		click := func(i int) (target.Job, error) {
			return w.Client(nth("client", i)).Submit(ctx, w.Key("a"), w.Intent("a"))
		}
		first, second := inBackground(click, 0), inBackground(click, 1)
		w.arrives(awaits(ctx, held))

		By("letting the first go on when the second waits for it, or did not care to")
		w.arrives(stage.Until(within(ctx, toArrive), "the second click waits, or was answered", func(ctx context.Context) (bool, error) {
			waiting, err := w.Rows().Count(ctx, `
				SELECT count(*) FROM pg_stat_activity
				WHERE  datname = current_database() AND wait_event_type = 'Lock' AND query ILIKE '%jobs%'`)
			return waiting > 0 || first.over() || second.over(), err
		}))
		held.Release()
		w.expectOneJob([]answer{first.answer(), second.answer()})
	}, SpecTimeout(toPlay))
})

// expectOneJob expects that of several clicks one made the job and all others
// found it.
func (w *World) expectOneJob(answers []answer) {
	GinkgoHelper()
	w.expect(idsOf(answers)).To(HaveLen(1), "all clicks name one job")
	w.expect(created(answers)).To(Equal(1), "one click made the job, the others found it")
}
