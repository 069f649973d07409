package scenarios

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/interlock-harness/interlock/harness/history"
	"github.com/interlock-harness/interlock/harness/invariant"
	"github.com/interlock-harness/interlock/harness/stage"
)

var provider429RetryAfter = Info{
	Number: 51, Slug: "provider-429-retry-after", Title: "a provider asks to be left alone for a while", Group: Failover, Level: 1,
	Fault:  "the provider answers 429, and 529, with a Retry-After of thirty seconds",
	Expect: invariant.Expect{Invariants: []invariant.ID{"I3", "I7"}},
}

var _ = Describe(provider429RetryAfter.text(), about(provider429RetryAfter), func() {
	for name, status := range map[string]int{"too many requests": 429, "overloaded": 529} {
		It("waits as long as the provider asked, when it is "+name, func(ctx SpecContext) {
			w := begin(ctx)
			client, provider := w.Client("client-1"), w.Provider(openai)
			provider.Script(match("a"), stage.Answer{Status: status, RetryAfter: "30"}, history.Refused)
			job, err := client.Submit(ctx, w.Key("a"), w.movingOn("a", openai))
			w.expect(err).NotTo(HaveOccurred())
			_, err = w.AttemptState(within(ctx, toComplete), client, job.ID, 1, "failed")
			w.expect(err).NotTo(HaveOccurred())
			_, err = w.AttemptState(within(ctx, toComplete), client, job.ID, 2, "starting", "running", "failed")
			w.expect(err).NotTo(HaveOccurred(), "it goes on by itself, later")

			By("seeing a job that came after it claimed and done, and itself not")
			other, err := client.Submit(ctx, w.Key("b"), w.Intent("b"))
			w.expect(err).NotTo(HaveOccurred())
			_, err = w.Status(within(ctx, toComplete), client, other.ID, "succeeded")
			w.expect(err).NotTo(HaveOccurred())
			attempts, err := client.Attempts(ctx, job.ID)
			w.expect(err).NotTo(HaveOccurred())
			w.expect(attempts[1].State).To(Equal("starting"))
			w.expect(provider.Calls(match("a"))).To(HaveLen(1))

			By("taking back what was not sent yet")
			fenced, err := w.Operator().CancelAttempt(ctx, job.ID, 2, "no need to wait")
			w.expect(err).NotTo(HaveOccurred())
			w.expect(fenced.State).To(Equal("cancelled"))
		}, SpecTimeout(toPlay))
	}
})
