package scenarios

import (
	"net/http"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/interlock-harness/interlock/harness/invariant"
	"github.com/interlock-harness/interlock/harness/target"
)

var lostRequestRetry = Info{
	Number: 5, Slug: "lost-request-retry", Title: "a click that never arrived, clicked again", Group: Submit, Level: 0,
	Fault:  "the connection is cut before the first byte of the request arrives",
	Expect: invariant.Expect{Invariants: []invariant.ID{"I1", "I8"}, Faults: []string{"lost-request"}},
}

var _ = Describe(lostRequestRetry.text(), about(lostRequestRetry), func() {
	It("makes the job at the second click", func(ctx SpecContext) {
		w := begin(ctx)
		cut, err := w.LostRequest(ctx)
		w.works(err)
		client, intent := w.Client("client-1"), w.Intent("a")

		By("losing the whole first click")
		_, err = client.Through(cut.URL()).Submit(ctx, w.Key("a"), intent)
		w.expect(target.IsUnknown(err)).To(BeTrue(), "the client sees the same as with a lost answer: %v", err)
		w.arrives(awaits(ctx, cut))

		By("clicking again, once with half of the body only, then whole")
		replica := client.Through(w.Service.Replica(1).URL()) // a balancer would answer for it
		_, err = replica.Submit(ctx, w.Key("a"), intent, target.BreakOff(100))
		w.expect(target.IsUnknown(err)).To(BeTrue(), "half a click is no click: %v", err)
		job, err := client.Submit(ctx, w.Key("a"), intent)
		w.expect(err).NotTo(HaveOccurred())
		w.expect(job.Answer.Status).To(Equal(http.StatusCreated), "nothing was stored before")
		w.finishes(ctx, client, job.ID)
	}, SpecTimeout(toPlay))
})
