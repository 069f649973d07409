package scenarios

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/interlock-harness/interlock/harness/history"
	"github.com/interlock-harness/interlock/harness/invariant"
)

var lateAfterCancel = Info{
	Number: 34, Slug: "late-after-cancel", Title: "a cancel is recorded, then the provider answers", Group: Completion, Level: 1,
	Fault:  "the provider holds its answer until the job, or the attempt, was cancelled",
	Expect: invariant.Expect{Invariants: []invariant.ID{"I6", "I15"}},
}

var _ = Describe(lateAfterCancel.text(), about(lateAfterCancel), func() {
	It("keeps the job cancelled and discards the answer", func(ctx SpecContext) {
		w := begin(ctx)
		client, provider := w.Client("client-1"), w.Provider(openai)
		provider.Script(match("a"), saying("late"), history.Accept)
		gate := provider.Hold(match("a"))
		job, err := client.Submit(ctx, w.Key("a"), w.Intent("a"))
		w.expect(err).NotTo(HaveOccurred())
		w.arrives(awaits(ctx, gate))

		By("cancelling the job while its attempt runs")
		cancelled, err := client.CancelJob(ctx, job.ID, "changed my mind")
		w.expect(err).NotTo(HaveOccurred())
		w.expect(cancelled.Status).To(Equal("cancelled"))

		By("letting the provider answer")
		gate.Release()
		attempt, err := w.AttemptState(within(ctx, toComplete), client, job.ID, 1, "lost", "succeeded")
		w.expect(err).NotTo(HaveOccurred())
		w.expect(attempt.State).To(Equal("lost"))
		after, err := client.Job(ctx, job.ID)
		w.expect(err).NotTo(HaveOccurred())
		w.expect(after.Status).To(Equal("cancelled"))
		w.expect(after.Result).To(BeEmpty())
		races, err := client.Races(ctx, job.ID)
		w.expect(err).NotTo(HaveOccurred())
		w.expect(races).To(HaveExactElements(raceWon(attempt.ID, "")), "a race without a winner")
	}, SpecTimeout(toPlay))

	It("keeps an attempt cancelled, and its answer out", func(ctx SpecContext) {
		w := begin(ctx)
		w.exercises("I15") // nobody has won, so nothing can be late
		client, provider := w.Client("client-1"), w.Provider(openai)
		provider.Script(match("a"), saying("late"), history.Accept)
		gate := provider.Hold(match("a"))
		job, err := client.Submit(ctx, w.Key("a"), w.Intent("a"))
		w.expect(err).NotTo(HaveOccurred())
		w.arrives(awaits(ctx, gate))

		By("fencing the attempt while it runs")
		fenced, err := w.Operator().CancelAttempt(ctx, job.ID, 1, "the provider has an incident")
		w.expect(err).NotTo(HaveOccurred())
		w.expect(fenced.State).To(Equal("cancelled"))

		By("letting the provider answer")
		gate.Release()
		Eventually(ctx, func() ([]history.Race, error) { return client.Races(ctx, job.ID) }).
			WithTimeout(toComplete).Should(HaveExactElements(raceWon(fenced.ID, "")))
		after, err := client.Job(ctx, job.ID)
		w.expect(err).NotTo(HaveOccurred())
		w.expect(after.Result).To(BeEmpty())
		attempts, err := client.Attempts(ctx, job.ID)
		w.expect(err).NotTo(HaveOccurred())
		w.expect(attempts).To(HaveExactElements(HaveField("State", "cancelled")))
	}, SpecTimeout(toPlay))
})
