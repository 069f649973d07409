package scenarios

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/interlock-harness/interlock/harness/invariant"
)

var sameKeyOtherProvider = Info{
	Number: 11, Slug: "same-key-other-provider", Title: "one key, one input, and another provider", Group: Submit, Level: 0,
	Fault:  "a second POST carries key and input of the first and names another provider",
	Expect: invariant.Expect{Invariants: []invariant.ID{"I2"}},
}

var _ = Describe(sameKeyOtherProvider.text(), about(sameKeyOtherProvider), func() {
	It("refuses it: where a job goes is part of what its owner wants", func(ctx SpecContext) {
		w := begin(ctx)
		client := w.Client("client-1")
		job, err := client.Submit(ctx, w.Key("a"), w.Intent("a"))
		w.expect(err).NotTo(HaveOccurred())
		elsewhere := w.Intent("a")
		elsewhere.Provider = anthropic
		w.refuses(client.Submit(ctx, w.Key("a"), elsewhere))

		done := w.finishes(ctx, client, job.ID)
		w.expect(done.Provider).To(Equal(openai))
		w.expectCalls(anthropic, anyCall, 0)
	}, SpecTimeout(toPlay))
})
