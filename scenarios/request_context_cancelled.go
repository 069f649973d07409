package scenarios

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/interlock-harness/interlock/harness/invariant"
	"github.com/interlock-harness/interlock/harness/stage"
	"github.com/interlock-harness/interlock/harness/target"
)

var requestContextCancelled = Info{
	Number: 45, Slug: "request-context-cancelled", Title: "a client goes away while its click is being stored", Group: Submit, Level: 2,
	Fault:  "the insert waits for a lock, and the client closes its connection meanwhile",
	Expect: invariant.Expect{Invariants: []invariant.ID{"I4", "I8"}, Faults: []string{"key-lock", "client-gone"}},
}

var _ = Describe(requestContextCancelled.text(), about(requestContextCancelled), func() {
	It("carries the click out all the same", func(ctx SpecContext) {
		w := begin(ctx)
		lock, err := w.HoldKey(ctx, w.Owner(1).Owner, w.Key("a"))
		w.works(err)
		calling, gone := w.ClientGone(ctx, "client-1")
		left := make(chan error, 1)
		go func() {
			_, err := w.Client("client-1").Submit(calling, w.Key("a"), w.Intent("a"))
			left <- err
		}()
		_, err = lock.Await(within(ctx, toArrive), 1)
		w.arrives(err)
		w.Recorder.Taken(w.Owner(1).Owner, w.Key("a"), "its insert waits in the database")

		By("going away, and giving a careless service the time to notice")
		gone.Leave("its insert waited in the database")
		w.expect(target.IsUnknown(<-left)).To(BeTrue())
		_ = stage.Until(within(ctx, toStayPut), "the insert is given up", func(ctx context.Context) (bool, error) {
			waiters, err := lock.Waiters(ctx)
			return len(waiters) == 0, err
		})
		w.works(lock.Release(ctx))

		By("coming back for the job")
		client := w.Client("client-1")
		var jobs []target.Job
		Eventually(ctx, func() ([]target.Job, error) {
			jobs, err = client.Jobs(ctx, w.Key("a"))
			return jobs, err
		}).WithTimeout(toComplete).Should(HaveLen(1))
		_, err = w.Status(within(ctx, toComplete), client, jobs[0].ID, "succeeded")
		w.expect(err).NotTo(HaveOccurred())
	}, SpecTimeout(toPlay))
})
