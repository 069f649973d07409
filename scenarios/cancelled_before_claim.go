package scenarios

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/interlock-harness/interlock/harness/invariant"
	"github.com/interlock-harness/interlock/harness/stage"
)

var cancelledBeforeClaim = Info{
	Number: 78, Slug: "cancelled-before-claim", Title: "an attempt is fenced before any worker has it, and another is started", Group: Attempts, Level: 3,
	Fault:  "no worker is there while attempts, and a job, are cancelled; then one starts",
	Expect: invariant.Expect{Invariants: []invariant.ID{"I4", "I15"}},
}

var _ = Describe(cancelledBeforeClaim.text(), about(cancelledBeforeClaim), func() {
	It("sends what is wanted, and nothing that was taken back", func(ctx SpecContext) {
		w := begin(ctx, stage.Isolated(stage.ServiceOptions{Replicas: 1, Workers: -1}))
		client, provider := w.Client("client-1"), w.Provider(openai)
		again, err := client.Submit(ctx, w.Key("again"), w.Intent("again"))
		w.expect(err).NotTo(HaveOccurred())
		_, err = w.Operator().CancelAttempt(ctx, again.ID, 1, "not yet")
		w.expect(err).NotTo(HaveOccurred())
		second, err := client.StartAttempt(ctx, again.ID, w.Key("retry"), "")
		w.expect(err).NotTo(HaveOccurred())
		never, err := client.Submit(ctx, w.Key("never"), w.Intent("never"))
		w.expect(err).NotTo(HaveOccurred())
		_, err = client.CancelJob(ctx, never.ID, "changed my mind")
		w.expect(err).NotTo(HaveOccurred())

		By("starting a worker")
		_, err = w.Service.AddWorker(ctx)
		w.works(err)
		done, err := w.Status(within(ctx, toComplete), client, again.ID, "succeeded")
		w.expect(err).NotTo(HaveOccurred())
		w.expect(done.CompletedBy).To(Equal(second.ID))
		last, err := client.Submit(ctx, w.Key("last"), w.Intent("last"))
		w.expect(err).NotTo(HaveOccurred())
		_, err = w.Status(within(ctx, toComplete), client, last.ID, "succeeded")
		w.expect(err).NotTo(HaveOccurred())
		w.expect(provider.Calls(match("again"))).To(HaveLen(1))
		w.expect(provider.Calls(match("never"))).To(BeEmpty())
	}, SpecTimeout(toPlay))
})
