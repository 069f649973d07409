package scenarios

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/interlock-harness/interlock/harness/invariant"
)

var faultDidNotFire = Info{
	Number: 68, Slug: "fault-did-not-fire", Title: "a canary: a fault on an edge that nobody uses", Group: Canary, Level: 0,
	Fault:  "a lost response is armed, and the client connects elsewhere",
	Expect: invariant.Expect{Invariants: []invariant.ID{"I1"}, Faults: []string{"lost-response"}, Verdict: invariant.Inconclusive},
}

var _ = Describe(faultDidNotFire.text(), about(faultDidNotFire), func() {
	It("is inconclusive, however well the target did", func(ctx SpecContext) {
		w := begin(ctx)
		_, err := w.LostResponse(ctx)
		w.works(err)
		client := w.Client("client-1")
		job, err := client.Submit(ctx, w.Key("a"), w.Intent("a"))
		w.expect(err).NotTo(HaveOccurred())
		w.finishes(ctx, client, job.ID)
	}, SpecTimeout(toPlay))
})
