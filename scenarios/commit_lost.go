package scenarios

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/interlock-harness/interlock/harness/invariant"
	"github.com/interlock-harness/interlock/harness/stage"
)

var commitLost = Info{
	Number: 20, Slug: "commit-lost", Title: "the COMMIT of a submit never reaches PostgreSQL", Group: Database, Level: 2,
	Fault:  "the connection between service and database is cut before COMMIT arrives: PostgreSQL rolls back",
	Expect: invariant.Expect{Invariants: []invariant.ID{"I8", "I13"}, Faults: []string{"commit-lost"}},
}

var _ = Describe(commitLost.text(), about(commitLost), func() {
	It("acknowledges only what is stored", func(ctx SpecContext) {
		w := begin(ctx)
		client := w.Client("client-1")
		lost, err := w.CommitLost(stage.Victim(w.Key("a")))
		w.works(err)
		job, err := client.Submit(ctx, w.Key("a"), w.Intent("a"))
		w.arrives(awaits(ctx, lost))
		w.expect(err).NotTo(HaveOccurred(), "the same insert again is safe, and goes through")

		By("looking for the job that was acknowledged")
		_, err = w.Status(within(ctx, toComplete), client, job.ID, "succeeded")
		w.expect(err).NotTo(HaveOccurred())
		w.expect(w.Provider(openai).Calls(anyCall)).To(HaveLen(1))
	}, SpecTimeout(toPlay))
})
