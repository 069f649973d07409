package scenarios

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/interlock-harness/interlock/harness/invariant"
	"github.com/interlock-harness/interlock/harness/target"
)

var providerDuplicateCallback = Info{
	Number: 54, Slug: "provider-duplicate-callback", Title: "what became of an attempt is told twice, and out of order", Group: Completion, Level: 1,
	Fault:  "the evidence for an unknown attempt is brought twice, and a stale one that says otherwise after it",
	Expect: invariant.Expect{Invariants: []invariant.ID{"I4", "I5", "I6"}},
}

// resultOfStage is a result that the contract of the stage accepts.
const resultOfStage = `{"queue":"other","urgency":"low","summary":"told by the provider"}`

var _ = Describe(providerDuplicateCallback.text(), about(providerDuplicateCallback), func() {
	It("counts once, and what comes later changes nothing", func(ctx SpecContext) {
		w := begin(ctx)
		client := w.Client("client-1")
		gate := w.Provider(openai).Hold(match("a"))
		job, err := client.Submit(ctx, w.Key("a"), w.soonDue("a"))
		w.expect(err).NotTo(HaveOccurred())
		w.arrives(awaits(ctx, gate))
		_, err = w.AttemptState(within(ctx, toExpire), client, job.ID, 1, "unknown")
		w.expect(err).NotTo(HaveOccurred())

		By("bringing the evidence")
		succeeded := target.Resolution{Outcome: "succeeded", Result: []byte(resultOfStage), Evidence: "callback 1", Reason: "told by the provider"}
		attempt, err := w.Operator().Resolve(ctx, job.ID, 1, succeeded)
		w.expect(err).NotTo(HaveOccurred())
		w.expect(attempt.State).To(Equal("succeeded"))
		before, err := client.Job(ctx, job.ID)
		w.expect(err).NotTo(HaveOccurred())

		By("bringing it once more, and an older one that says the opposite")
		_, again := w.Operator().Resolve(ctx, job.ID, 1, succeeded)
		_, stale := w.Operator().Resolve(ctx, job.ID, 1, target.Resolution{Outcome: "failed", Evidence: "callback 0", Reason: "told by the provider"})
		gate.Release() // and the answer itself
		w.arrives(w.Provider(openai).AwaitEnd(within(ctx, toArrive), match("a"), 1))
		w.expect(again).To(MatchError(target.Reason("not-unknown")))
		w.expect(stale).To(MatchError(target.Reason("not-unknown")))
		after, err := client.Job(ctx, job.ID)
		w.expect(err).NotTo(HaveOccurred())
		w.expect(after.Version).To(Equal(before.Version))
		w.expect(after.Result).To(MatchJSON(resultOfStage))
	}, SpecTimeout(toPlay))
})
