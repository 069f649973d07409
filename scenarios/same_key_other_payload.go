package scenarios

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/interlock-harness/interlock/harness/invariant"
	"github.com/interlock-harness/interlock/harness/stage"
	"github.com/interlock-harness/interlock/harness/target"
)

var sameKeyOtherPayload = Info{
	Number: 8, Slug: "same-key-other-payload", Title: "one key under two different intents", Group: Submit, Level: 0,
	Fault:  "a second POST carries the key of the first and another input, while the job runs and after it ended",
	Expect: invariant.Expect{Invariants: []invariant.ID{"I2"}},
	Labels: []string{Breakpoints},
}

var _ = Describe(sameKeyOtherPayload.text(), about(sameKeyOtherPayload), func() {
	It("refuses the second intent in every state of the job, and changes nothing", func(ctx SpecContext) {
		w := begin(ctx)
		client := w.Client("client-1")
		var gate *stage.Gate // at L0 nobody can say how far the job is
		if w.sees(1) {
			gate = w.Provider(openai).Hold(match("a"))
		}
		first, err := client.Submit(ctx, w.Key("k"), w.Intent("a"))
		w.expect(err).NotTo(HaveOccurred())
		if gate != nil {
			w.arrives(awaits(ctx, gate))
		}

		By("using the key for another input while the first still runs")
		w.refuses(client.Submit(ctx, w.Key("k"), w.Intent("b")))

		By("and again when it has ended")
		if gate != nil {
			gate.Release()
		}
		w.finishes(ctx, client, first.ID)
		w.refuses(client.Submit(ctx, w.Key("k"), w.Intent("b")))

		By("finding that the first intent still has its job, and the second none")
		again, err := client.Submit(ctx, w.Key("k"), w.Intent("a"))
		w.expect(err).NotTo(HaveOccurred())
		w.expect(again.ID).To(Equal(first.ID))
		w.expectCalls(openai, match("b"), 0)
	}, SpecTimeout(toPlay))
})

// refuses expects the answer to a key that belongs to another intent.
func (w *World) refuses(_ target.Job, err error) {
	GinkgoHelper()
	w.expect(err).To(MatchError(target.Reason("idempotency-key-reused")))
	refused, _ := err.(*target.Refused)
	w.expect(refused.Status).To(Equal(w.Adapter().Conflict()))
	if w.Adapter() == nil {
		w.expect(refused.Header.Get("X-Should-Retry")).To(Equal("false"), "many clients retry a 409 by themselves")
	}
}
