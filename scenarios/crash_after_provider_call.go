package scenarios

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/interlock-harness/interlock/harness/invariant"
	"github.com/interlock-harness/interlock/harness/stage"
)

var crashAfterProviderCall = Info{
	Number: 38, Slug: "crash-after-provider-call", Title: "a worker dies while the provider works", Group: Attempts, Level: 3,
	Fault:  "kill -9 of the only worker when the provider has the request; then a new worker starts",
	Expect: invariant.Expect{Invariants: []invariant.ID{"I3", "I4", "I7"}, Faults: []string{"kill"}},
}

var _ = Describe(crashAfterProviderCall.text(), about(crashAfterProviderCall), func() {
	It("leaves the attempt unknown and asks nobody a second time", func(ctx SpecContext) {
		w := beginEnding(ctx, stage.ServiceOptions{Lease: 3 * soon, Heartbeat: soon})
		client := w.Client("client-1")
		gate := w.Provider(openai).Hold(match("a"))
		job, err := client.Submit(ctx, w.Key("a"), w.Intent("a"))
		w.expect(err).NotTo(HaveOccurred())
		w.arrives(awaits(ctx, gate))

		By("killing the worker that waits for the answer")
		killed, err := w.Kill(w.Service.Worker(1))
		w.works(err)
		w.arrives(awaits(ctx, killed))
		w.backUp(ctx, killed)

		By("waiting for its lease to pass")
		attempt, err := w.AttemptState(within(ctx, w.expired()), client, job.ID, 1, "unknown", "failed")
		w.expect(err).NotTo(HaveOccurred())
		w.expect(attempt.State).To(Equal("unknown"), "nobody knows what the provider did")

		By("starting a worker again")
		w.works(killed.Heal(ctx))
		w.staysPut(ctx, "one call at the provider", func() int { return len(w.Provider(openai).Calls(anyCall)) }, 1)
		attempts, err := client.Attempts(ctx, job.ID)
		w.expect(err).NotTo(HaveOccurred())
		w.expect(attempts).To(HaveLen(1), "no new attempt while one is unknown")
	}, SpecTimeout(toPlay))
})
