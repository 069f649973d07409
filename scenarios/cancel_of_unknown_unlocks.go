package scenarios

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/interlock-harness/interlock/harness/invariant"
	"github.com/interlock-harness/interlock/harness/target"
)

var cancelOfUnknownUnlocks = Info{
	Number: 36, Slug: "cancel-of-unknown-unlocks", Title: "an unknown attempt is fenced, and the job goes on", Group: Attempts, Level: 1,
	Fault:  "the provider never answers, and an operator cancels the attempt out of band",
	Expect: invariant.Expect{Invariants: []invariant.ID{"I3", "I10"}},
}

var _ = Describe(cancelOfUnknownUnlocks.text(), about(cancelOfUnknownUnlocks), func() {
	It("lets a new attempt start once the old one can never win", func(ctx SpecContext) {
		w := begin(ctx)
		client, provider := w.Client("client-1"), w.Provider(openai)
		gate := provider.Hold(callOf("a", 1))
		job, err := client.Submit(ctx, w.Key("a"), w.soonDue("a"))
		w.expect(err).NotTo(HaveOccurred())
		w.arrives(awaits(ctx, gate))
		_, err = w.AttemptState(within(ctx, toExpire), client, job.ID, 1, "unknown")
		w.expect(err).NotTo(HaveOccurred())
		_, err = client.StartAttempt(ctx, job.ID, w.Key("retry"), "")
		w.expect(err).To(MatchError(target.Reason("attempt-in-flight")))

		By("fencing the first attempt, which its owner may not do")
		_, err = client.CancelAttempt(ctx, job.ID, 1, "I am tired of it")
		w.expect(err).To(MatchError(target.Reason("role-required")))
		_, err = w.Operator().CancelAttempt(ctx, job.ID, 1, "the provider has an incident")
		w.expect(err).NotTo(HaveOccurred())

		By("clicking retry again: the same click, which was refused before")
		_, err = client.StartAttempt(ctx, job.ID, w.Key("retry"), "")
		w.expect(err).NotTo(HaveOccurred())
		done, err := w.Status(within(ctx, toComplete), client, job.ID, "succeeded")
		w.expect(err).NotTo(HaveOccurred())
		attempts, err := client.Attempts(ctx, job.ID)
		w.expect(err).NotTo(HaveOccurred())
		w.expect(attempts).To(HaveExactElements(HaveField("State", "cancelled"), HaveField("ID", done.CompletedBy)))
	}, SpecTimeout(toPlay))
})
