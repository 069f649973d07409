package scenarios

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/interlock-harness/interlock/harness/edge"
	"github.com/interlock-harness/interlock/harness/fault"
	"github.com/interlock-harness/interlock/harness/invariant"
	"github.com/interlock-harness/interlock/harness/stage"
)

var ackLostOnAttemptInsert = Info{
	Number: 21, Slug: "ack-lost-on-attempt-insert", Title: "an attempt is started and the service never hears of it", Group: Attempts, Level: 2,
	Fault:  "the connection is cut after the COMMIT of a new attempt, before its answer; and, as its twin, before the COMMIT",
	Expect: invariant.Expect{Invariants: []invariant.ID{"I3", "I7"}},
}

var _ = Describe(ackLostOnAttemptInsert.text(), about(ackLostOnAttemptInsert), func() {
	for name, arm := range map[string]func(*World, edge.Victim) (*fault.Transaction, error){
		"stored":  func(w *World, v edge.Victim) (*fault.Transaction, error) { return w.AckLost(v) },
		"dropped": func(w *World, v edge.Victim) (*fault.Transaction, error) { return w.CommitLost(v) },
	} {
		It("is one attempt when it was "+name, func(ctx SpecContext) {
			w := begin(ctx)
			client, provider := w.Client("client-1"), w.Provider(openai)
			provider.Fails(callOf("a", 1), 400)
			gate := provider.Hold(callOf("a", 2))
			job, err := client.Submit(ctx, w.Key("a"), w.Intent("a"))
			w.expect(err).NotTo(HaveOccurred())
			_, err = w.AttemptState(within(ctx, toComplete), client, job.ID, 1, "failed")
			w.expect(err).NotTo(HaveOccurred())

			By("clicking retry")
			lost, err := arm(w, stage.VictimOf("INSERT INTO attempts", job.ID))
			w.works(err)
			second, err := client.StartAttempt(ctx, job.ID, w.Key("retry"), "")
			w.arrives(awaits(ctx, lost))
			w.expect(err).NotTo(HaveOccurred(), "one look by identity tells whether it is there")
			w.arrives(awaits(ctx, gate))
			attempts, err := client.Attempts(ctx, job.ID)
			w.expect(err).NotTo(HaveOccurred())
			w.expect(attempts).To(HaveExactElements(HaveField("State", "failed"), HaveField("ID", second.ID)))

			By("letting it answer")
			gate.Release()
			_, err = w.Status(within(ctx, toComplete), client, job.ID, "succeeded")
			w.expect(err).NotTo(HaveOccurred())
			w.expect(provider.Calls(match("a"))).To(HaveLen(2))
		}, SpecTimeout(toPlay))
	}
})
