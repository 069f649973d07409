package scenarios

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/interlock-harness/interlock/harness/history"
	"github.com/interlock-harness/interlock/harness/invariant"
	"github.com/interlock-harness/interlock/harness/stage"
	"github.com/interlock-harness/interlock/providers/standin"
)

var poisonJob = Info{
	Number: 61, Slug: "poison-job", Title: "a job that kills its worker, and one that can never be right", Group: Attempts, Level: 3,
	Fault:  "the only worker is killed while it works on one job; another is answered with garbage each time it is asked",
	Expect: invariant.Expect{Invariants: []invariant.ID{"I7", "I10"}, Faults: []string{"kill"}},
}

var _ = Describe(poisonJob.text(), about(poisonJob), func() {
	It("is asked once each time somebody wants it, and starves nobody", func(ctx SpecContext) {
		w := beginEnding(ctx, stage.ServiceOptions{Replicas: 1, Concurrency: 1, Lease: 2 * soon, Heartbeat: soon})
		client, provider := w.Client("client-1"), w.Provider(openai)
		gate := provider.Hold(match("deadly"))
		deadly, err := client.Submit(ctx, w.Key("deadly"), w.Intent("deadly"))
		w.expect(err).NotTo(HaveOccurred())
		w.arrives(awaits(ctx, gate))
		killed, err := w.Kill(w.Service.Worker(1))
		w.works(err)
		w.backUp(ctx, killed)
		provider.Script(match("garbage"), standin.Says(`no JSON at all`), history.Reject)
		garbage, err := client.Submit(ctx, w.Key("garbage"), w.Intent("garbage"))
		w.expect(err).NotTo(HaveOccurred())
		good, err := client.Submit(ctx, w.Key("good"), w.Intent("good"))
		w.expect(err).NotTo(HaveOccurred())

		By("starting the worker again, with one place for all of them")
		w.works(killed.Heal(ctx))
		_, err = w.Status(within(ctx, toComplete), client, good.ID, "succeeded")
		w.expect(err).NotTo(HaveOccurred(), "the good job behind them is done")
		attempt, err := w.AttemptState(within(ctx, w.expired()), client, deadly.ID, 1, "unknown", "failed")
		w.expect(err).NotTo(HaveOccurred())
		w.expect(attempt.State).To(Equal("unknown"))
		attempt, err = w.AttemptState(within(ctx, toComplete), client, garbage.ID, 1, "failed")
		w.expect(err).NotTo(HaveOccurred())
		w.expect(attempt.Reason).To(HavePrefix("rejected."))
		for _, name := range []string{"deadly", "garbage", "good"} {
			w.expect(provider.Calls(match(name))).To(HaveLen(1), name)
		}
	}, SpecTimeout(toPlay))
})
