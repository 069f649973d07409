package scenarios

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/interlock-harness/interlock/harness/invariant"
	"github.com/interlock-harness/interlock/harness/stage"
)

var ackLostOnCommit = Info{
	Number: 19, Slug: "ack-lost-on-commit", Title: "PostgreSQL commits a submit and the service never hears of it", Group: Database, Level: 2,
	Fault:  "the connection between service and database is cut after COMMIT was applied, before its answer",
	Expect: invariant.Expect{Invariants: []invariant.ID{"I1", "I8", "I13"}, Faults: []string{"ack-lost"}},
}

var _ = Describe(ackLostOnCommit.text(), about(ackLostOnCommit), func() {
	It("finds out by itself that the job is stored, or says that it does not know", func(ctx SpecContext) {
		w := begin(ctx)
		client := w.Client("client-1")
		lost, err := w.AckLost(stage.Victim(w.Key("a")))
		w.works(err)

		job, err := client.Submit(ctx, w.Key("a"), w.Intent("a"))
		w.arrives(awaits(ctx, lost))
		w.expect(err).NotTo(HaveOccurred(), "one look by identity tells that the job is there")

		By("clicking again")
		again, err := client.Submit(ctx, w.Key("a"), w.Intent("a"))
		w.expect(err).NotTo(HaveOccurred())
		w.expect(again.ID).To(Equal(job.ID))
		rows, err := w.Rows().Count(ctx, `SELECT count(*) FROM jobs WHERE owner = $1`, w.Owner(1).Owner)
		w.works(err)
		w.expect(rows).To(Equal(1), "rows of this owner")
	}, SpecTimeout(toPlay))
})
