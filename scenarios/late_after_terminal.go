package scenarios

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/interlock-harness/interlock/harness/history"
	"github.com/interlock-harness/interlock/harness/invariant"
	"github.com/interlock-harness/interlock/harness/target"
)

var lateAfterTerminal = Info{
	Number: 33, Slug: "late-after-terminal", Title: "a success arrives after a failure was recorded", Group: Completion, Level: 1,
	Fault:  "the provider is silent, an operator records with evidence that it failed, and then it answers",
	Expect: invariant.Expect{Invariants: []invariant.ID{"I6"}},
}

var _ = Describe(lateAfterTerminal.text(), about(lateAfterTerminal), func() {
	It("leaves the attempt failed and records a race without a winner", func(ctx SpecContext) {
		w := begin(ctx)
		client, provider := w.Client("client-1"), w.Provider(openai)
		provider.Script(match("a"), saying("late"), history.Accept)
		gate := provider.Hold(match("a"))
		job, err := client.Submit(ctx, w.Key("a"), w.soonDue("a"))
		w.expect(err).NotTo(HaveOccurred())
		w.arrives(awaits(ctx, gate))
		attempt, err := w.AttemptState(within(ctx, toExpire), client, job.ID, 1, "unknown")
		w.expect(err).NotTo(HaveOccurred())

		By("recording a failure")
		failed, err := w.Operator().Resolve(ctx, job.ID, 1, target.Resolution{Outcome: "failed", Evidence: "ticket 17", Reason: "the provider lost it"})
		w.expect(err).NotTo(HaveOccurred())
		w.expect(failed.State).To(Equal("failed"))

		By("letting the provider answer after all")
		gate.Release()
		Eventually(ctx, func() ([]history.Race, error) { return client.Races(ctx, job.ID) }).
			WithTimeout(toComplete).Should(HaveExactElements(raceWon(attempt.ID, "")))
		after, err := client.Job(ctx, job.ID)
		w.expect(err).NotTo(HaveOccurred())
		w.expect(after.Status).To(Equal("failed"))
		w.expect(after.Result).To(BeEmpty())
	}, SpecTimeout(toPlay))
})
