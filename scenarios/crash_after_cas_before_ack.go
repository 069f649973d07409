package scenarios

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/interlock-harness/interlock/harness/invariant"
	"github.com/interlock-harness/interlock/harness/stage"
)

var crashAfterCASBeforeAck = Info{
	Number: 40, Slug: "crash-after-cas-before-ack", Title: "a worker dies after its result was committed", Group: Completion, Level: 3,
	Fault:  "kill -9 of the only worker while PostgreSQL's answer to the COMMIT of its result is held",
	Expect: invariant.Expect{Invariants: []invariant.ID{"I5", "I7", "I8"}, Faults: []string{"hold-ack", "kill"}},
}

var _ = Describe(crashAfterCASBeforeAck.text(), about(crashAfterCASBeforeAck), func() {
	It("does nothing again that is done", func(ctx SpecContext) {
		w := beginEnding(ctx, stage.ServiceOptions{Replicas: 1})
		client, provider := w.Client("client-1"), w.Provider(openai)
		gate := provider.Hold(match("a"))
		job, err := client.Submit(ctx, w.Key("a"), w.Intent("a"))
		w.expect(err).NotTo(HaveOccurred())
		w.arrives(awaits(ctx, gate))
		held, err := w.HoldAck(stage.VictimOf(resultWrite, job.ID))
		w.works(err)
		gate.Release()
		w.arrives(awaits(ctx, held))
		done, err := w.Status(within(ctx, toComplete), client, job.ID, "succeeded")
		w.expect(err).NotTo(HaveOccurred())

		By("killing the worker, which never hears of its win, and starting another")
		killed, err := w.Kill(w.Service.Worker(1))
		w.works(err)
		held.Release()
		w.works(killed.Heal(ctx))

		By("seeing work that came later claimed and done, and none of the old")
		other, err := client.Submit(ctx, w.Key("b"), w.Intent("b"))
		w.expect(err).NotTo(HaveOccurred())
		_, err = w.Status(within(ctx, toComplete), client, other.ID, "succeeded")
		w.expect(err).NotTo(HaveOccurred())
		after, err := client.Job(ctx, job.ID)
		w.expect(err).NotTo(HaveOccurred())
		w.expect(after.CompletedBy).To(Equal(done.CompletedBy))
		w.expect(after.Version).To(Equal(done.Version))
		w.expect(provider.Calls(match("a"))).To(HaveLen(1))
	}, SpecTimeout(toPlay))
})
