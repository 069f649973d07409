package scenarios

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/interlock-harness/interlock/harness/invariant"
	"github.com/interlock-harness/interlock/harness/stage"
)

var rowLockedResultWrite = Info{
	Number: 26, Slug: "row-locked-result-write", Title: "a result waits for its row until the deadline has passed", Group: Completion, Level: 2,
	Fault:  "the job's row is locked from before the answer until after the soft deadline",
	Expect: invariant.Expect{Invariants: []invariant.ID{"I4", "I5"}, Faults: []string{"job-row-lock"}},
}

var _ = Describe(rowLockedResultWrite.text(), about(rowLockedResultWrite), func() {
	It("stores it when the row is free again", func(ctx SpecContext) {
		w := begin(ctx)
		client := w.Client("client-1")
		gate := w.Provider(openai).Hold(match("a"))
		job, err := client.Submit(ctx, w.Key("a"), w.soonDue("a"))
		w.expect(err).NotTo(HaveOccurred())
		w.arrives(awaits(ctx, gate))
		lock, err := w.LockJob(ctx, job.ID)
		w.works(err)
		gate.Release()
		_, err = lock.Await(within(ctx, toArrive), 1)
		w.arrives(err)

		By("keeping the row until the deadline has passed")
		w.arrives(stage.Until(within(ctx, toExpire), "the deadline has passed", func(ctx context.Context) (bool, error) {
			n, err := w.Rows().Count(ctx, `SELECT count(*) FROM attempts WHERE job_id = $1 AND deadline_at < clock_timestamp()`, job.ID)
			return n == 1, err
		}))
		w.works(lock.Release(ctx))
		done, err := w.Status(within(ctx, toComplete), client, job.ID, "succeeded", "failed")
		w.expect(err).NotTo(HaveOccurred())
		w.expect(done.Status).To(Equal("succeeded"), "a slow database is no failure of the provider")
	}, SpecTimeout(toPlay))
})
