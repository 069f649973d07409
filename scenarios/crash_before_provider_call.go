package scenarios

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/interlock-harness/interlock/harness/invariant"
	"github.com/interlock-harness/interlock/harness/stage"
	"github.com/interlock-harness/interlock/harness/target"
)

var crashBeforeProviderCall = Info{
	Number: 37, Slug: "crash-before-provider-call", Title: "a worker dies before its call has arrived", Group: Attempts, Level: 3,
	Fault:  "kill -9 of the only worker after it claimed the attempt, while its request is held on the way",
	Expect: invariant.Expect{Invariants: []invariant.ID{"I10"}, Faults: []string{"stall-request", "kill"}},
}

var _ = Describe(crashBeforeProviderCall.text(), about(crashBeforeProviderCall), func() {
	It("says that it does not know, and lets an operator go on", func(ctx SpecContext) {
		w := beginEnding(ctx, stage.ServiceOptions{Replicas: 1, Lease: 3 * soon, Heartbeat: soon})
		client := w.Client("client-1")
		held, err := w.ProviderStalled(ctx, openai)
		w.works(err)
		job, err := client.Submit(ctx, w.Key("a"), w.Intent("a"))
		w.expect(err).NotTo(HaveOccurred())
		w.arrives(awaits(ctx, held))
		killed, err := w.Kill(w.Service.Worker(1))
		w.works(err)
		w.works(held.Heal(ctx))
		w.backUp(ctx, killed)

		By("waiting for the lease of the dead worker")
		attempt, err := w.AttemptState(within(ctx, w.expired()), client, job.ID, 1, "unknown", "failed")
		w.expect(err).NotTo(HaveOccurred())
		w.expect(attempt.State).To(Equal("unknown"))
		w.works(killed.Heal(ctx))

		By("resolving it: the provider's log has no such call")
		resolved, err := w.Operator().Resolve(ctx, job.ID, 1, target.Resolution{Outcome: "failed", Evidence: "no such call in the provider's log", Reason: "never arrived"})
		w.expect(err).NotTo(HaveOccurred())
		w.expect(resolved.State).To(Equal("failed"))
		_, err = client.StartAttempt(ctx, job.ID, w.Key("retry"), "")
		w.expect(err).NotTo(HaveOccurred())
		_, err = w.Status(within(ctx, toComplete), client, job.ID, "succeeded")
		w.expect(err).NotTo(HaveOccurred())
	}, SpecTimeout(toPlay))
})
