package scenarios

import (
	"encoding/json"
	"net/http"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/interlock-harness/interlock/harness/invariant"
)

var sameKeyReorderedJSON = Info{
	Number: 9, Slug: "same-key-reordered-json", Title: "the same intent spelt in another way", Group: Submit, Level: 0,
	Fault:  "the second POST has other key order, white space, escapes and number spelling",
	Expect: invariant.Expect{Invariants: []invariant.ID{"I1"}},
}

var _ = Describe(sameKeyReorderedJSON.text(), about(sameKeyReorderedJSON), func() {
	It("finds the job of the first spelling", func(ctx SpecContext) {
		w := begin(ctx)
		client := w.Client("client-1")
		intent := w.Intent("a")
		meaning, err := json.Marshal(intent)
		w.works(err)
		spellings, err := spellingsOf(meaning)
		w.works(err)

		first, err := client.SubmitBody(ctx, w.Key("a"), spellings[0], meaning)
		w.expect(err).NotTo(HaveOccurred())
		for _, spelling := range spellings[1:] {
			again, err := client.SubmitBody(ctx, w.Key("a"), spelling, meaning)
			w.expect(err).NotTo(HaveOccurred(), "%s", spelling)
			w.expect(again.ID).To(Equal(first.ID), "%s", spelling)
			w.expect(again.Answer.Status).To(Equal(http.StatusOK))
		}
	}, SpecTimeout(toPlay))
})
