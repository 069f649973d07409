package scenarios

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/interlock-harness/interlock/harness/invariant"
)

var providerStallThenAnswer = Info{
	Number: 29, Slug: "provider-stall-then-answer", Title: "a provider says nothing past the deadline, then answers", Group: Attempts, Level: 1,
	Fault:  "the provider holds its answer until the soft deadline has passed",
	Expect: invariant.Expect{Invariants: []invariant.ID{"I4", "I5"}},
	Labels: []string{Breakpoints},
}

var _ = Describe(providerStallThenAnswer.text(), about(providerStallThenAnswer), func() {
	It("calls the attempt unknown, never failed, and takes the late answer", func(ctx SpecContext) {
		w := begin(ctx)
		client := w.Client("client-1")
		gate := w.Provider(openai).Hold(match("a"))
		job, err := client.Submit(ctx, w.Key("a"), w.soonDue("a"))
		w.expect(err).NotTo(HaveOccurred())
		w.arrives(awaits(ctx, gate))

		By("letting the deadline pass")
		attempt, err := w.AttemptState(within(ctx, toExpire), client, job.ID, 1, "unknown", "failed")
		w.expect(err).NotTo(HaveOccurred())
		w.expect(attempt.State).To(Equal("unknown"), "a timeout says nothing about the provider's work")

		By("letting the provider answer after all")
		gate.Release()
		done, err := w.Status(within(ctx, toComplete), client, job.ID, "succeeded", "failed")
		w.expect(err).NotTo(HaveOccurred())
		w.expect(done.Status).To(Equal("succeeded"))
		w.expect(done.CompletedBy).To(Equal(attempt.ID))
		w.expect(w.Provider(openai).Calls(anyCall)).To(HaveLen(1), "nothing was asked twice")
	}, SpecTimeout(toPlay))
})
