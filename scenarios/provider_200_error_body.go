package scenarios

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/interlock-harness/interlock/harness/history"
	"github.com/interlock-harness/interlock/harness/invariant"
	"github.com/interlock-harness/interlock/providers/standin"
)

var provider200ErrorBody = Info{
	Number: 50, Slug: "provider-200-error-body", Title: "an error comes with status 200", Group: Attempts, Level: 1,
	Fault:  "the provider answers 200 with an error object, or with an error event inside the stream",
	Expect: invariant.Expect{Invariants: []invariant.ID{"I4"}},
}

var _ = Describe(provider200ErrorBody.text(), about(provider200ErrorBody), func() {
	It("reads the error, and stores no result", func(ctx SpecContext) {
		w := begin(ctx)
		client, provider := w.Client("client-1"), w.Provider(openai)
		refused := `{"error":{"message":"The engine is overloaded","type":"server_error","param":null,"code":"engine_overloaded"}}`
		provider.Script(match("body"), standin.Answer{Body: []byte(refused)}, history.Refused)
		job, err := client.Submit(ctx, w.Key("body"), w.Intent("body"))
		w.expect(err).NotTo(HaveOccurred())
		attempt, err := w.AttemptState(within(ctx, toComplete), client, job.ID, 1, "unknown", "failed", "succeeded")
		w.expect(err).NotTo(HaveOccurred())
		w.expect(attempt.State).To(Equal("failed"))

		By("stating the error in the middle of a stream")
		provider.Script(match("stream"), standin.Answer{BreakAfter: 2}, history.Reject)
		job, err = client.Submit(ctx, w.Key("stream"), w.streaming("stream"))
		w.expect(err).NotTo(HaveOccurred())
		attempt, err = w.AttemptState(within(ctx, toComplete), client, job.ID, 1, "unknown", "failed", "succeeded")
		w.expect(err).NotTo(HaveOccurred())
		w.expect(attempt.State).NotTo(Equal("succeeded"), "half an answer and an error are no result")
		after, err := client.Job(ctx, job.ID)
		w.expect(err).NotTo(HaveOccurred())
		w.expect(after.Result).To(BeEmpty())
	}, SpecTimeout(toPlay))
})
