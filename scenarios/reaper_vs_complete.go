package scenarios

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/interlock-harness/interlock/harness/edge"
	"github.com/interlock-harness/interlock/harness/invariant"
	"github.com/interlock-harness/interlock/harness/stage"
)

var reaperVsComplete = Info{
	Number: 64, Slug: "reaper-vs-complete", Title: "a worker finishes between the reaper's look and its move", Group: Completion, Level: 3,
	Fault:  "the worker stands still past its lease; the reaper's lock is held after its look, the worker goes on and finishes",
	Expect: invariant.Expect{Invariants: []invariant.ID{"I4", "I5", "I6"}, Faults: []string{"pause", "hold-statement"}},
}

// reaperLocks occurs in the statement by which the reaper locks a job that it
// found, and in no other.
const reaperLocks = "FOR NO KEY UPDATE SKIP LOCKED"

var _ = Describe(reaperVsComplete.text(), about(reaperVsComplete), func() {
	It("finds that there is nothing left to reap", func(ctx SpecContext) {
		w := begin(ctx, stage.Isolated(stage.ServiceOptions{Replicas: 1, Lease: 2 * soon, Heartbeat: soon}))
		client := w.Client("client-1")
		gate := w.Provider(openai).Hold(match("a"))
		job, err := client.Submit(ctx, w.Key("a"), w.Intent("a"))
		w.expect(err).NotTo(HaveOccurred())
		w.arrives(awaits(ctx, gate))
		look, err := w.HoldStatement(edge.Victim{Statement: reaperLocks, Values: []string{job.ID}, Reads: true})
		w.works(err)

		By("letting the lease pass, until the reaper has seen it and is held")
		still, err := w.Pause(ctx, w.Service.Worker(1))
		w.works(err)
		w.arrives(awaits(ctx, look))

		By("letting the worker finish")
		gate.Release()
		w.works(still.Heal(ctx))
		done, err := w.Status(within(ctx, toComplete), client, job.ID, "succeeded")
		w.expect(err).NotTo(HaveOccurred())

		By("letting the reaper go on")
		look.Release()
		w.works(w.Rows().Settled(within(ctx, toArrive)))
		attempts, err := client.Attempts(ctx, job.ID)
		w.expect(err).NotTo(HaveOccurred())
		w.expect(attempts).To(HaveExactElements(HaveField("State", "succeeded")))
		after, err := client.Job(ctx, job.ID)
		w.expect(err).NotTo(HaveOccurred())
		w.expect(after.CompletedBy).To(Equal(done.CompletedBy))
	}, SpecTimeout(toPlay))
})
