package scenarios

import (
	"net/http"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/interlock-harness/interlock/harness/invariant"
	"github.com/interlock-harness/interlock/harness/target"
)

var sameKeyTwoOwners = Info{
	Number: 12, Slug: "same-key-two-owners", Title: "two owners choose the same key", Group: Submit, Level: 0,
	Fault:  "a second owner submits under the key of the first, with the same and with another intent",
	Expect: invariant.Expect{Invariants: []invariant.ID{"I11"}},
}

var _ = Describe(sameKeyTwoOwners.text(), about(sameKeyTwoOwners), func() {
	It("gives each owner a job that the other cannot see", func(ctx SpecContext) {
		w := begin(ctx)
		ada, bob := w.ClientOf(1, "ada"), w.ClientOf(2, "bob")
		hers, err := ada.Submit(ctx, w.Key("k"), w.Intent("a"))
		w.expect(err).NotTo(HaveOccurred())
		his, err := bob.Submit(ctx, w.Key("k"), w.Intent("b"))
		w.expect(err).NotTo(HaveOccurred(), "the key of another owner is free")
		w.expect(his.Answer.Status).To(Equal(http.StatusCreated))
		w.expect(his.ID).NotTo(Equal(hers.ID))

		By("looking at the job of the other")
		_, err = bob.Job(ctx, hers.ID)
		w.expect(err).To(MatchError(target.Reason("not-found")))
		_, err = bob.CancelJob(ctx, hers.ID, "not mine")
		w.expect(err).To(MatchError(target.Reason("not-found")))

		By("seeing both inputs really run")
		for owner, job := range map[*target.Client]string{ada: hers.ID, bob: his.ID} {
			w.finishes(ctx, owner, job)
		}
		w.expectCalls(openai, match("a"), 1)
		w.expectCalls(openai, match("b"), 1)
	}, SpecTimeout(toPlay))
})
