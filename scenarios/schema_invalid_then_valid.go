package scenarios

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/interlock-harness/interlock/harness/history"
	"github.com/interlock-harness/interlock/harness/invariant"
	"github.com/interlock-harness/interlock/providers/standin"
)

var schemaInvalidThenValid = Info{
	Number: 59, Slug: "schema-invalid-then-valid", Title: "an answer breaks the contract, the next one would not", Group: Attempts, Level: 1,
	Fault:  "the first answer names a queue that the schema does not have",
	Expect: invariant.Expect{Invariants: []invariant.ID{"I4", "I7"}},
}

var _ = Describe(schemaInvalidThenValid.text(), about(schemaInvalidThenValid), func() {
	It("rejects the answer, and asks again in an attempt of its own only", func(ctx SpecContext) {
		w := begin(ctx)
		client, provider := w.Client("client-1"), w.Provider(openai)
		provider.Script(callOf("a", 1), standin.Says(`{"queue":"nowhere","urgency":"normal","summary":"x"}`), history.Reject)
		job, err := client.Submit(ctx, w.Key("a"), w.Intent("a"))
		w.expect(err).NotTo(HaveOccurred())
		attempt, err := w.AttemptState(within(ctx, toComplete), client, job.ID, 1, "failed", "succeeded")
		w.expect(err).NotTo(HaveOccurred())
		w.expect(attempt.State).To(Equal("failed"))
		w.expect(attempt.Reason).To(HavePrefix("rejected."))
		w.expect(provider.Calls(match("a"))).To(HaveLen(1))

		By("clicking retry")
		_, err = client.StartAttempt(ctx, job.ID, w.Key("retry"), "")
		w.expect(err).NotTo(HaveOccurred())
		_, err = w.Status(within(ctx, toComplete), client, job.ID, "succeeded")
		w.expect(err).NotTo(HaveOccurred())
		w.expect(provider.Calls(match("a"))).To(HaveLen(2))
	}, SpecTimeout(toPlay))
})
