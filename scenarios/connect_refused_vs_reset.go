package scenarios

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/interlock-harness/interlock/harness/invariant"
)

var connectRefusedVsReset = Info{
	Number: 53, Slug: "connect-refused-vs-reset", Title: "a call that was never sent, and one that may have been", Group: Attempts, Level: 1,
	Fault:  "connections to the provider are refused; then they are reset after the request was written",
	Expect: invariant.Expect{Invariants: []invariant.ID{"I4", "I7"}, Faults: []string{"connection-refused", "lost-response"}},
}

var _ = Describe(connectRefusedVsReset.text(), about(connectRefusedVsReset), func() {
	It("calls the first a failure and the second unknown", func(ctx SpecContext) {
		w := begin(ctx)
		client := w.Client("client-1")

		By("refusing the connection")
		refused, err := w.ProviderRefused(ctx, openai)
		w.works(err)
		never, err := client.Submit(ctx, w.Key("never"), w.Intent("never"))
		w.expect(err).NotTo(HaveOccurred())
		attempt, err := w.AttemptState(within(ctx, toComplete), client, never.ID, 1, "failed", "unknown")
		w.expect(err).NotTo(HaveOccurred())
		w.expect(attempt.State).To(Equal("failed"), "nothing was sent, so a new attempt is safe")
		refused.Seen("attempt " + attempt.ID + " failed: " + attempt.Reason)
		w.works(refused.Heal(ctx))
		w.expect(w.Provider(openai).Calls(match("never"))).To(BeEmpty())

		By("losing the answer after the request was written")
		lost, err := w.ProviderLostResponse(ctx, openai)
		w.works(err)
		maybe, err := client.Submit(ctx, w.Key("maybe"), w.Intent("maybe"))
		w.expect(err).NotTo(HaveOccurred())
		attempt, err = w.AttemptState(within(ctx, toComplete), client, maybe.ID, 1, "failed", "unknown")
		w.expect(err).NotTo(HaveOccurred())
		w.arrives(awaits(ctx, lost))
		w.expect(attempt.State).To(Equal("unknown"), "the provider may have done the work")
		w.expect(w.Provider(openai).Calls(match("maybe"))).To(HaveLen(1))
	}, SpecTimeout(toPlay))
})
