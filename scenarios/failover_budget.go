package scenarios

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/interlock-harness/interlock/harness/history"
	"github.com/interlock-harness/interlock/harness/invariant"
	"github.com/interlock-harness/interlock/harness/stage"
)

var failoverBudget = Info{
	Number: 71, Slug: "failover-budget", Title: "every provider refuses, and the job's attempts are spent", Group: Failover, Level: 1,
	Fault:  "primary and fallback answer 429, and a job may have two attempts",
	Expect: invariant.Expect{Invariants: []invariant.ID{"I3", "I7", "I10"}},
}

var _ = Describe(failoverBudget.text(), about(failoverBudget), func() {
	It("ends with the last attempt of the budget", func(ctx SpecContext) {
		w := begin(ctx, stage.Isolated(stage.ServiceOptions{Replicas: 1, MaxAttempts: 2}))
		client := w.Client("client-1")
		for _, provider := range []string{openai, anthropic} {
			w.Provider(provider).Script(anyCall, stage.Answer{Status: 429, RetryAfter: "60"}, history.Refused)
		}
		job, err := client.Submit(ctx, w.Key("a"), w.movingOn("a", anthropic))
		w.expect(err).NotTo(HaveOccurred())
		_, err = w.AttemptState(within(ctx, toComplete), client, job.ID, 2, "failed")
		w.expect(err).NotTo(HaveOccurred())

		after, err := client.Job(ctx, job.ID)
		w.expect(err).NotTo(HaveOccurred())
		w.expect(after.Status).To(Equal("failed"), "it says so itself")
		w.expect(after.Attempts).To(Equal(2), "what follows was started in the transaction that ended the last, or never")
	}, SpecTimeout(toPlay))
})
