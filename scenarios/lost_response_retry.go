package scenarios

import (
	"net/http"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/interlock-harness/interlock/harness/invariant"
	"github.com/interlock-harness/interlock/harness/target"
)

var lostResponseRetry = Info{
	Number: 4, Slug: "lost-response-retry", Title: "a click whose answer was lost, clicked again", Group: Submit, Level: 0,
	Fault:  "the connection is cut at the first byte of the answer",
	Expect: invariant.Expect{Invariants: []invariant.ID{"I1", "I13"}, Faults: []string{"lost-response"}},
}

var _ = Describe(lostResponseRetry.text(), about(lostResponseRetry), func() {
	It("finds the job of the first click", func(ctx SpecContext) {
		w := begin(ctx)
		cut, err := w.LostResponse(ctx)
		w.works(err)
		client := w.Client("client-1")

		By("losing the answer of the first click")
		_, err = client.Through(cut.URL()).Submit(ctx, w.Key("a"), w.Intent("a"))
		w.expect(target.IsUnknown(err)).To(BeTrue(), "the client cannot know what happened: %v", err)
		w.arrives(awaits(ctx, cut))

		By("clicking again")
		again, err := client.Submit(ctx, w.Key("a"), w.Intent("a"))
		w.expect(err).NotTo(HaveOccurred())
		w.expect(again.Answer.Status).To(Equal(http.StatusOK), "the first click was stored before its answer was lost")
		jobs, err := client.Jobs(ctx, w.Key("a"))
		w.expect(err).NotTo(HaveOccurred())
		w.expect(jobs).To(HaveLen(1))
	}, SpecTimeout(toPlay))
})
