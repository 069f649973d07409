package scenarios

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/interlock-harness/interlock/harness/history"
	"github.com/interlock-harness/interlock/harness/invariant"
	"github.com/interlock-harness/interlock/harness/target"
	"github.com/interlock-harness/interlock/providers/standin"
)

var providerExecutedThen500 = Info{
	Number: 52, Slug: "provider-executed-then-500", Title: "a provider does the work and answers with an error", Group: Failover, Level: 1,
	Fault:  "the provider counts the call, then answers 500, 502, 504 or 408",
	Expect: invariant.Expect{Invariants: []invariant.ID{"I4"}},
}

var _ = Describe(providerExecutedThen500.text(), about(providerExecutedThen500), func() {
	It("does not know, and asks nobody else", func(ctx SpecContext) {
		w := begin(ctx)
		client := w.Client("client-1")
		for name, status := range map[string]int{"error": 500, "gateway": 502, "gateway-late": 504, "timeout": 408} {
			w.Provider(openai).Script(match(name), standin.Failed(status), history.Unknown)
			job, err := client.Submit(ctx, w.Key(name), w.movingOn(name, anthropic))
			w.expect(err).NotTo(HaveOccurred())
			attempt, err := w.AttemptState(within(ctx, toComplete), client, job.ID, 1, "unknown", "failed")
			w.expect(err).NotTo(HaveOccurred())
			w.expect(attempt.State).To(Equal("unknown"), "after %d", status)
			_, err = client.StartAttempt(ctx, job.ID, w.Key(name+"-retry"), anthropic)
			w.expect(err).To(MatchError(target.Reason("attempt-in-flight")))
			w.expect(w.Provider(openai).Calls(match(name))).To(HaveLen(1))
		}
		w.expect(w.Provider(anthropic).Calls(anyCall)).To(BeEmpty(), "a second provider would do the work twice")
	}, SpecTimeout(toPlay))
})
