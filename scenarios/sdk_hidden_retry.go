package scenarios

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/interlock-harness/interlock/harness/invariant"
)

var sdkHiddenRetry = Info{
	Number: 67, Slug: "sdk-hidden-retry", Title: "errors that client libraries like to retry by themselves", Group: Attempts, Level: 1,
	Fault:  "the provider answers 429, 500, 503, 529 and a cut connection",
	Expect: invariant.Expect{Invariants: []invariant.ID{"I7"}},
}

var _ = Describe(sdkHiddenRetry.text(), about(sdkHiddenRetry), func() {
	It("sends one request for one attempt, whatever comes back", func(ctx SpecContext) {
		w := begin(ctx)
		client, provider := w.Client("client-1"), w.Provider(openai)
		for name, retried := range retriedAnswers {
			provider.Script(match(name), retried.answer, retried.meaning)
			job, err := client.Submit(ctx, w.Key(name), w.Intent(name))
			w.expect(err).NotTo(HaveOccurred())
			_, err = w.AttemptState(within(ctx, toComplete), client, job.ID, 1, retried.state)
			w.expect(err).NotTo(HaveOccurred(), name)
		}
		good, err := client.Submit(ctx, w.Key("good"), w.Intent("good"))
		w.expect(err).NotTo(HaveOccurred())
		_, err = w.Status(within(ctx, toComplete), client, good.ID, "succeeded")
		w.expect(err).NotTo(HaveOccurred())
		w.staysPut(ctx, "one call for each of six attempts", func() int { return len(provider.Calls(anyCall)) }, 6)
		for attempt, calls := range provider.PerAttempt() {
			w.expect(calls).To(Equal(1), "calls of attempt %s", attempt)
		}
	}, SpecTimeout(toPlay))
})
