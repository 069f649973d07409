package scenarios

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/interlock-harness/interlock/harness/edge"
	"github.com/interlock-harness/interlock/harness/fault"
	"github.com/interlock-harness/interlock/harness/invariant"
	"github.com/interlock-harness/interlock/harness/stage"
)

var ackLostOnResultCAS = Info{
	Number: 22, Slug: "ack-lost-on-result-cas", Title: "a result is stored and its worker never hears of it", Group: Completion, Level: 2,
	Fault:  "the connection is cut after the COMMIT of the result, before its answer; and, as its twin, before the COMMIT",
	Expect: invariant.Expect{Invariants: []invariant.ID{"I5", "I6"}},
}

var _ = Describe(ackLostOnResultCAS.text(), about(ackLostOnResultCAS), func() {
	for name, arm := range map[string]func(*World, edge.Victim) (*fault.Transaction, error){
		"stored":  func(w *World, v edge.Victim) (*fault.Transaction, error) { return w.AckLost(v) },
		"dropped": func(w *World, v edge.Victim) (*fault.Transaction, error) { return w.CommitLost(v) },
	} {
		It("is one win and no lost race when the result was "+name, func(ctx SpecContext) {
			w := begin(ctx)
			client := w.Client("client-1")
			gate := w.Provider(openai).Hold(match("a"))
			job, err := client.Submit(ctx, w.Key("a"), w.Intent("a"))
			w.expect(err).NotTo(HaveOccurred())
			w.arrives(awaits(ctx, gate))
			lost, err := arm(w, stage.VictimOf(resultWrite, job.ID))
			w.works(err)
			gate.Release()
			w.arrives(awaits(ctx, lost))

			done, err := w.Status(within(ctx, toComplete), client, job.ID, "succeeded")
			w.expect(err).NotTo(HaveOccurred())
			w.expect(done.Version).To(BeEquivalentTo(2), "the job changed once")
			w.works(w.Rows().Settled(within(ctx, toArrive)))
			races, err := client.Races(ctx, job.ID)
			w.expect(err).NotTo(HaveOccurred())
			w.expect(races).To(BeEmpty(), "its own win is no race")
			w.expect(w.Provider(openai).Calls(anyCall)).To(HaveLen(1))
		}, SpecTimeout(toPlay))
	}
})

// resultWrite occurs in the statement that stores a result, and in no other that
// carries the id of a job whose attempt runs.
const resultWrite = "UPDATE jobs"
