package scenarios

import (
	"fmt"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/interlock-harness/interlock/harness/invariant"
	"github.com/interlock-harness/interlock/harness/stage"
	"github.com/interlock-harness/interlock/harness/target"
)

var postgresRestartUnderLoad = Info{
	Number: 24, Slug: "postgres-restart-under-load", Title: "PostgreSQL dies under load and comes back", Group: Database, Level: 3,
	Fault:  "PostgreSQL is stopped at once while clients submit and a provider works, and started again",
	Expect: invariant.Expect{Invariants: []invariant.ID{"I8", "I10"}, Faults: []string{"postgres-crash"}},
}

var _ = Describe(postgresRestartUnderLoad.text(), about(postgresRestartUnderLoad), func() {
	It("keeps what it acknowledged, and takes work again", func(ctx SpecContext) {
		w := begin(ctx, stage.Isolated(stage.ServiceOptions{Replicas: 1, OwnServer: true}))
		client, provider := w.Client("client-1"), w.Provider(openai)
		gate := provider.Hold(match("before"))
		before, err := client.Submit(ctx, w.Key("before"), w.Intent("before"))
		w.expect(err).NotTo(HaveOccurred())
		w.arrives(awaits(ctx, gate))

		By("clicking while the database goes down")
		var clicks sync.WaitGroup
		down := make(chan struct{})
		for i := range 4 {
			clicks.Go(func() {
				defer GinkgoRecover()
				for n := 0; ; n++ {
					name := fmt.Sprintf("load-%d-%d", i+1, n)
					_, err := w.Client(nth("client", i)).Submit(ctx, w.Key(name), w.Intent(name))
					w.expect(err == nil || target.IsUnknown(err)).To(BeTrue(), "%v", err)
					select {
					case <-down:
						return
					default:
					}
				}
			})
		}
		crashed, err := w.CrashPostgres(ctx)
		w.works(err)
		close(down)
		gate.Release() // the worker has an answer and nowhere to put it
		w.works(crashed.Heal(ctx))
		clicks.Wait()

		By("looking for what was under way, and clicking again")
		done, err := w.Status(within(ctx, toRecover), client, before.ID, "succeeded")
		w.expect(err).NotTo(HaveOccurred())
		w.expect(done.Version).To(BeEquivalentTo(2))
		after, err := client.Submit(ctx, w.Key("after"), w.Intent("after"))
		w.expect(err).NotTo(HaveOccurred())
		_, err = w.Status(within(ctx, toRecover), client, after.ID, "succeeded")
		w.expect(err).NotTo(HaveOccurred())
	}, SpecTimeout(toPlay))
})
