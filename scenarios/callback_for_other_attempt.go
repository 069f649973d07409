package scenarios

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/interlock-harness/interlock/harness/invariant"
	"github.com/interlock-harness/interlock/harness/target"
)

var callbackForOtherAttempt = Info{
	Number: 55, Slug: "callback-for-other-attempt", Title: "what is told is about another attempt than the obvious one", Group: Completion, Level: 1,
	Fault:  "of two attempts that nobody knows the end of, evidence comes for the second; and some names a job of another owner",
	Expect: invariant.Expect{Invariants: []invariant.ID{"I4", "I6", "I11"}},
}

var _ = Describe(callbackForOtherAttempt.text(), about(callbackForOtherAttempt), func() {
	It("moves the attempt that is named, and no other", func(ctx SpecContext) {
		w := begin(ctx)
		r := w.raceOfTwo(ctx, releaseFirst)
		_, err := w.AttemptState(within(ctx, toExpire), r.client, r.job, 2, "unknown")
		w.expect(err).NotTo(HaveOccurred())

		By("telling that the second attempt failed, while the first is still a contender")
		failed := target.Resolution{Outcome: "failed", Evidence: "callback", Reason: "told by the provider"}
		told, err := w.Operator().Resolve(ctx, r.job, 2, failed)
		w.expect(err).NotTo(HaveOccurred())
		attempts, err := r.client.Attempts(ctx, r.job)
		w.expect(err).NotTo(HaveOccurred())
		w.expect(attempts).To(HaveExactElements(HaveField("State", "released"), HaveField("State", "failed")))
		w.expect(told.ID).To(Equal(r.b.ID))

		By("telling about attempts that this job does not have, and as somebody else")
		_, err = w.Operator().Resolve(ctx, r.job, 3, failed)
		w.expect(err).To(MatchError(target.Reason("not-found")))
		stranger := w.ClientOf(2, "client-2")
		_, err = stranger.Job(ctx, r.job)
		w.expect(err).To(MatchError(target.Reason("not-found")))
		_, err = stranger.StartAttempt(ctx, r.job, w.Key("stranger"), "")
		w.expect(err).To(MatchError(target.Reason("not-found")))

		By("letting the first answer, which wins")
		r.first.Release()
		done, err := w.Status(within(ctx, toComplete), r.client, r.job, "succeeded")
		w.expect(err).NotTo(HaveOccurred())
		w.expect(done.CompletedBy).To(Equal(r.a.ID))
		r.second.Release()
		Eventually(ctx, func() (int, error) {
			races, err := r.client.Races(ctx, r.job)
			return len(races), err
		}).WithTimeout(toComplete).Should(Equal(1), "the answer of the attempt that was told to have failed")
	}, SpecTimeout(toPlay))
})
