package scenarios

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/interlock-harness/interlock/harness/invariant"
	"github.com/interlock-harness/interlock/harness/stage"
)

var mixedVersionRollout = Info{
	Number: 63, Slug: "mixed-version-rollout", Title: "an old and a new version work on one database", Group: Attempts, Level: 3,
	Fault:  "while an old worker waits for a provider, the tables get columns of a newer version and a new worker starts beside it",
	Expect: invariant.Expect{Invariants: []invariant.ID{"I3", "I7", "I9"}, Faults: []string{"schema-grows"}},
}

// oldVersion are flags of a worker that is what was deployed before: whatever
// fault this run puts into the service, it does not have it.
var oldVersion = []string{"--mutant", ""}

var _ = Describe(mixedVersionRollout.text(), about(mixedVersionRollout), func() {
	It("lets each attempt be done by one of them", func(ctx SpecContext) {
		w := begin(ctx, stage.Isolated(stage.ServiceOptions{Workers: -1}))
		client, provider := w.Client("client-1"), w.Provider(openai)
		_, err := w.Service.AddWorker(ctx, oldVersion...)
		w.works(err)
		gate := provider.Hold(match("old"))
		old, err := client.Submit(ctx, w.Key("old"), w.Intent("old"))
		w.expect(err).NotTo(HaveOccurred())
		w.arrives(awaits(ctx, gate))
		seen, err := client.Job(ctx, old.ID)
		w.expect(err).NotTo(HaveOccurred())

		By("rolling the new version out in the middle of the call")
		w.works(w.GrowSchema(ctx))
		_, err = w.Service.AddWorker(ctx)
		w.works(err)
		w.works(w.Service.Replica(1).Restart(ctx))
		later, err := client.Submit(ctx, w.Key("later"), w.Intent("later"))
		w.expect(err).NotTo(HaveOccurred())
		_, err = w.Status(within(ctx, toComplete), client, later.ID, "succeeded")
		w.expect(err).NotTo(HaveOccurred())
		second, err := client.Submit(ctx, w.Key("second"), w.Intent("second"))
		w.expect(err).NotTo(HaveOccurred())
		_, err = w.Status(within(ctx, toComplete), client, second.ID, "succeeded")
		w.expect(err).NotTo(HaveOccurred())
		w.expect(provider.Calls(match("old"))).To(HaveLen(1), "what the old worker has, the new one leaves alone")

		By("letting the old worker finish over the new columns")
		gate.Release()
		done, err := w.Status(within(ctx, toComplete), client, old.ID, "succeeded")
		w.expect(err).NotTo(HaveOccurred())
		w.expect(done.Version).To(Equal(seen.Version + 1))
	}, SpecTimeout(toPlay))
})
