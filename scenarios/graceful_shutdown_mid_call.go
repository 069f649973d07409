package scenarios

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/interlock-harness/interlock/harness/invariant"
	"github.com/interlock-harness/interlock/harness/stage"
)

var gracefulShutdownMidCall = Info{
	Number: 44, Slug: "graceful-shutdown-mid-call", Title: "a worker is asked to end while the provider works", Group: Attempts, Level: 3,
	Fault:  "SIGTERM to the only worker; the provider answers within its grace, or not",
	Expect: invariant.Expect{Invariants: []invariant.ID{"I4", "I10"}, Faults: []string{"term"}},
}

var _ = Describe(gracefulShutdownMidCall.text(), about(gracefulShutdownMidCall), func() {
	It("waits for an answer that comes, and calls the other unknown", func(ctx SpecContext) {
		w := beginEnding(ctx, stage.ServiceOptions{Replicas: 1, Grace: 3 * soon})
		client, provider := w.Client("client-1"), w.Provider(openai)
		worker := w.Service.Worker(1)
		for name, comes := range map[string]bool{"comes": true, "stays away": false} {
			gate := provider.Hold(match(name))
			job, err := client.Submit(ctx, w.Key(name[:5]), w.Intent(name))
			w.expect(err).NotTo(HaveOccurred())
			w.arrives(awaits(ctx, gate))

			By("asking the worker to end while the call that " + name + " is under way")
			ending, err := w.Term(worker)
			w.works(err)
			want := "unknown"
			if comes {
				gate.Release()
				want = "succeeded"
			}
			w.arrives(ending.Ended(within(ctx, w.ended())))
			w.backUp(ctx, ending)
			attempt, err := w.AttemptState(within(ctx, w.expired()), client, job.ID, 1, "succeeded", "unknown", "failed")
			w.expect(err).NotTo(HaveOccurred())
			w.expect(attempt.State).To(Equal(want), "the end of a worker says nothing about the provider's work")
			w.works(ending.Heal(ctx))
		}
		w.expect(provider.Calls(anyCall)).To(HaveLen(2), "nothing was sent again")
	}, SpecTimeout(toPlay))
})
