package scenarios

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/interlock-harness/interlock/harness/invariant"
)

var simultaneousFinish = Info{
	Number: 32, Slug: "simultaneous-finish", Title: "two attempts write their results at the same moment", Group: Completion, Level: 2,
	Fault:  "the job's row is locked until both writers wait for it",
	Expect: invariant.Expect{Invariants: []invariant.ID{"I5", "I6"}, Faults: []string{"job-row-lock"}},
}

var _ = Describe(simultaneousFinish.text(), about(simultaneousFinish), func() {
	It("stores one result, once, and records the other as late", func(ctx SpecContext) {
		w := begin(ctx)
		r := w.raceOfTwo(ctx, releaseFirst)
		lock, err := w.LockJob(ctx, r.job)
		w.works(err)

		By("letting both answers come, until both writers wait for the row")
		r.second.Release()
		_, err = lock.Await(within(ctx, toArrive), 1)
		w.arrives(err)
		r.first.Release()
		_, err = lock.Await(within(ctx, toArrive), 2)
		w.arrives(err)

		By("letting the row go")
		w.works(lock.Release(ctx))
		done, err := w.Status(within(ctx, toComplete), r.client, r.job, "succeeded")
		w.expect(err).NotTo(HaveOccurred())
		w.expect(done.CompletedBy).To(Equal(r.b.ID), "whoever waited first writes first")
		w.expect(done.Version).To(BeEquivalentTo(2), "the job changed once")
		w.becomes(ctx, r, 1, "lost")
		w.expect(w.racesOf(ctx, r)).To(HaveExactElements(raceWon(r.a.ID, r.b.ID)))
	}, SpecTimeout(toPlay))
})
