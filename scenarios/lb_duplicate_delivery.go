package scenarios

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/interlock-harness/interlock/harness/edge"
	"github.com/interlock-harness/interlock/harness/invariant"
)

var lbDuplicateDelivery = Info{
	Number: 7, Slug: "lb-duplicate-delivery", Title: "a load balancer delivers one click to two replicas", Group: Submit, Level: 0,
	Fault:  "the balancer sends the request to both replicas at once; then to the second after the answer of the first was lost",
	Expect: invariant.Expect{Invariants: []invariant.ID{"I1"}, Faults: []string{"duplicate-delivery"}},
}

var _ = Describe(lbDuplicateDelivery.text(), about(lbDuplicateDelivery), func() {
	for name, how := range map[string]edge.Delivery{"at once": edge.Both, "after a cut": edge.AfterLoss} {
		It("makes one job of a click that is delivered twice "+name, func(ctx SpecContext) {
			w := begin(ctx)
			client := w.Client("client-1")
			twice := w.Duplicate(w.Key("a"), how)
			job, err := client.Submit(ctx, w.Key("a"), w.Intent("a"))
			w.expect(err).NotTo(HaveOccurred())
			w.expect(twice.Fired()).To(BeTrue(), "both replicas got it")

			By("clicking once more, and counting jobs and calls")
			w.works(twice.Heal(ctx))
			again, err := client.Submit(ctx, w.Key("a"), w.Intent("a"))
			w.expect(err).NotTo(HaveOccurred())
			w.expect(again.ID).To(Equal(job.ID))
			w.finishes(ctx, client, job.ID)
			w.expectCalls(openai, anyCall, 1)
		}, SpecTimeout(toPlay))
	}
})
