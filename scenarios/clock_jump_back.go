package scenarios

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/interlock-harness/interlock/harness/invariant"
	"github.com/interlock-harness/interlock/harness/stage"
)

var clockJumpBack = Info{
	Number: 42, Slug: "clock-jump-back", Title: "the clock of the database jumps an hour back", Group: Completion, Level: 4,
	Fault:  "the database's clock jumps back by an hour between two results, and while an attempt waits for a worker",
	Expect: invariant.Expect{Invariants: []invariant.ID{"I3", "I4", "I5"}, Faults: []string{"clock-jump"}},
}

var _ = Describe(clockJumpBack.text(), about(clockJumpBack), func() {
	It("keeps the first result and goes on with what waits", func(ctx SpecContext) {
		w := begin(ctx, stage.Isolated(stage.ServiceOptions{Replicas: 1, Clock: true}))
		r := w.raceOfTwo(ctx, releaseFirst)
		r.second.Release()
		_, err := w.Status(within(ctx, toComplete), r.client, r.job, "succeeded")
		w.expect(err).NotTo(HaveOccurred())
		still, err := w.Pause(ctx, w.Service.Worker(1))
		w.works(err)
		waiting, err := r.client.Submit(ctx, w.Key("waiting"), w.Intent("waiting"))
		w.expect(err).NotTo(HaveOccurred())

		By("setting the clock back")
		_, err = w.JumpClock(ctx, -time.Hour)
		w.works(err)
		w.works(still.Heal(ctx))
		r.first.Release()
		_, err = w.AttemptState(within(ctx, toComplete), r.client, r.job, 1, "lost", "succeeded")
		w.expect(err).NotTo(HaveOccurred())
		w.stays(ctx, r, r.b.ID, "second")
		_, err = w.Status(within(ctx, toComplete), r.client, waiting.ID, "succeeded")
		w.expect(err).NotTo(HaveOccurred(), "what was to be done at once is not to be done in an hour")
	}, SpecTimeout(toPlay))
})
