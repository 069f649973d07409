package scenarios

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/interlock-harness/interlock/harness/invariant"
	"github.com/interlock-harness/interlock/harness/target"
)

var retryClickTwice = Info{
	Number: 72, Slug: "retry-click-twice", Title: "the retry button is pressed twice", Group: Attempts, Level: 0,
	Fault:  "after a failure the same retry click is sent twice, then one with a key of its own",
	Expect: invariant.Expect{Invariants: []invariant.ID{"I3"}},
}

var _ = Describe(retryClickTwice.text(), about(retryClickTwice), func() {
	It("starts one attempt for one click, and none for a second click meanwhile", func(ctx SpecContext) {
		needs(1) // the first attempt must fail, and the second must be held
		w := begin(ctx)
		client, provider := w.Client("client-1"), w.Provider(openai)
		provider.Fails(callOf("a", 1), 400)
		gate := provider.Hold(callOf("a", 2))
		job, err := client.Submit(ctx, w.Key("a"), w.Intent("a"))
		w.expect(err).NotTo(HaveOccurred())
		_, err = w.AttemptState(within(ctx, toComplete), client, job.ID, 1, "failed")
		w.expect(err).NotTo(HaveOccurred())

		By("clicking retry")
		first, err := client.StartAttempt(ctx, job.ID, w.Key("retry"), "")
		w.expect(err).NotTo(HaveOccurred())
		w.arrives(awaits(ctx, gate))

		By("sending the same click again, at the other replica too")
		for _, replica := range []int{1, 2} {
			again, err := client.Through(w.Service.Replica(replica).URL()).StartAttempt(ctx, job.ID, w.Key("retry"), "")
			w.expect(err).NotTo(HaveOccurred())
			w.expect(again.ID).To(Equal(first.ID))
			w.expect(again.Replayed).To(BeTrue())
		}

		By("clicking a second time")
		_, err = client.StartAttempt(ctx, job.ID, w.Key("retry-2"), "")
		w.expect(err).To(MatchError(target.Reason("attempt-in-flight")))

		gate.Release()
		_, err = w.Status(within(ctx, toComplete), client, job.ID, "succeeded")
		w.expect(err).NotTo(HaveOccurred())
		again, err := client.StartAttempt(ctx, job.ID, w.Key("retry"), "")
		w.expect(err).NotTo(HaveOccurred(), "a click that was answered is answered again, also when the job has ended")
		w.expect(again.ID).To(Equal(first.ID))
		w.expect(provider.Calls(match("a"))).To(HaveLen(2))
	}, SpecTimeout(toPlay))
})
