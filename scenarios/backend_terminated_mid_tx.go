package scenarios

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/interlock-harness/interlock/harness/invariant"
	"github.com/interlock-harness/interlock/harness/stage"
)

var backendTerminatedMidTx = Info{
	Number: 23, Slug: "backend-terminated-mid-tx", Title: "an administrator ends a backend in the middle of a submit", Group: Database, Level: 2,
	Fault:  "pg_terminate_backend, once the first attempt is written and before its COMMIT",
	Expect: invariant.Expect{Invariants: []invariant.ID{"I3", "I8"}, Faults: []string{"hold-commit", "backend-terminated"}},
}

var _ = Describe(backendTerminatedMidTx.text(), about(backendTerminatedMidTx), func() {
	It("stores a job with its first attempt, or none of the two", func(ctx SpecContext) {
		w := begin(ctx)
		client := w.Client("client-1")
		held, err := w.HoldCommit(stage.VictimOf("INSERT INTO attempts", w.Key("a")))
		w.works(err)
		answers := make(chan answer, 1)
		go func() {
			job, err := client.Submit(ctx, w.Key("a"), w.Intent("a"))
			answers <- answer{job, err}
		}()
		w.arrives(awaits(ctx, held))
		writers, err := w.Rows().Writers(within(ctx, toArrive))
		w.arrives(err)

		By("ending the backend that holds both rows")
		_, err = w.Terminate(ctx, writers[0])
		w.works(err)
		first := <-answers
		w.expect(first.err).NotTo(HaveOccurred(), "nothing was stored, so it is safe to store it again")
		attempts, err := client.Attempts(ctx, first.job.ID)
		w.expect(err).NotTo(HaveOccurred())
		w.expect(attempts).To(HaveLen(1))
		_, err = w.Status(within(ctx, toComplete), client, first.job.ID, "succeeded")
		w.expect(err).NotTo(HaveOccurred())
	}, SpecTimeout(toPlay))
})
