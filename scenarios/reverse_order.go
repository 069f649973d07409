package scenarios

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/interlock-harness/interlock/harness/invariant"
	"github.com/interlock-harness/interlock/harness/target"
)

var reverseOrder = Info{
	Number: 31, Slug: "reverse-order", Title: "two attempts finish in another order than they began", Group: Completion, Level: 1,
	Fault:  "the first attempt is stalled, an operator lets a second one start, and the answers come back the other way round",
	Expect: invariant.Expect{Invariants: []invariant.ID{"I5", "I6"}},
	Labels: []string{Breakpoints},
}

var _ = Describe(reverseOrder.text(), about(reverseOrder), func() {
	It("keeps the second answer and discards the late first", func(ctx SpecContext) {
		w := begin(ctx)
		r := w.raceOfTwo(ctx, releaseFirst)

		By("letting the second answer first")
		r.second.Release()
		done, err := w.Status(within(ctx, toComplete), r.client, r.job, "succeeded")
		w.expect(err).NotTo(HaveOccurred())
		w.expect(done.CompletedBy).To(Equal(r.b.ID))

		By("letting the first answer too late")
		r.first.Release()
		w.becomes(ctx, r, 1, "lost")
		w.stays(ctx, r, r.b.ID, "second")
		w.expect(w.racesOf(ctx, r)).To(HaveExactElements(raceWon(r.a.ID, r.b.ID)))
	}, SpecTimeout(toPlay))

	It("keeps the first answer when it still comes back first", func(ctx SpecContext) {
		w := begin(ctx)
		r := w.raceOfTwo(ctx, releaseFirst)
		r.first.Release()
		done, err := w.Status(within(ctx, toComplete), r.client, r.job, "succeeded")
		w.expect(err).NotTo(HaveOccurred())
		w.expect(done.CompletedBy).To(Equal(r.a.ID), "a released attempt is still a contender")

		By("letting the second answer too late")
		r.second.Release()
		w.becomes(ctx, r, 2, "lost")
		w.stays(ctx, r, r.a.ID, "first")
		w.expect(w.racesOf(ctx, r)).To(HaveExactElements(raceWon(r.b.ID, r.a.ID)))
	}, SpecTimeout(toPlay))

	It("never lets a cancelled first attempt win", func(ctx SpecContext) {
		w := begin(ctx)
		r := w.raceOfTwo(ctx, cancelFirst)

		By("letting the cancelled attempt answer while the second still runs")
		r.first.Release()
		w.arrives(w.Provider(openai).AwaitEnd(within(ctx, toArrive), callOf("a", 1), 1))
		w.staysPut(ctx, "no result from a fenced attempt", func() int {
			job, err := r.client.Job(ctx, r.job)
			w.works(err)
			return len(job.Result)
		}, 0)

		By("letting the second answer")
		r.second.Release()
		done, err := w.Status(within(ctx, toComplete), r.client, r.job, "succeeded")
		w.expect(err).NotTo(HaveOccurred())
		w.expect(done.CompletedBy).To(Equal(r.b.ID))
		w.becomes(ctx, r, 1, "cancelled")
		w.expect(w.racesOf(ctx, r)).To(HaveLen(1), "the fenced answer is on record")
	}, SpecTimeout(toPlay))

	It("takes the first answer when the second attempt fails", func(ctx SpecContext) {
		w := begin(ctx)
		r := w.raceOfTwo(ctx, releaseFirst, secondFails)
		r.second.Release()
		w.becomes(ctx, r, 2, "failed")
		r.first.Release()
		done, err := w.Status(within(ctx, toComplete), r.client, r.job, "succeeded")
		w.expect(err).NotTo(HaveOccurred())
		w.expect(done.CompletedBy).To(Equal(r.a.ID), "the second attempt did not disqualify the first by starting")
		w.expect(w.racesOf(ctx, r)).To(BeEmpty(), "nobody lost a race")
	}, SpecTimeout(toPlay))
})

// raceWon describes a race row: who came too late, and who had won.
func raceWon(loser, winner string) any {
	return And(HaveField("AttemptID", loser), HaveField("WinnerID", winner), HaveField("PayloadBytes", BeNumerically(">", 0)))
}

func (w *World) becomes(ctx SpecContext, r *race, n int, state string) {
	GinkgoHelper()
	_, err := w.AttemptState(within(ctx, toComplete), r.client, r.job, n, state)
	w.expect(err).NotTo(HaveOccurred())
}

// stays expects that the job keeps its winner and that the stored result is the
// one that names it.
func (w *World) stays(ctx SpecContext, r *race, winner, word string) {
	GinkgoHelper()
	look := func() (target.Job, error) { return r.client.Job(ctx, r.job) }
	Consistently(ctx, look).WithTimeout(toStayPut).WithPolling(toStayPut / 5).Should(And(
		HaveField("CompletedBy", winner), HaveField("Result", ContainSubstring(word))))
}
