package scenarios

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/interlock-harness/interlock/harness/history"
	"github.com/interlock-harness/interlock/harness/invariant"
	"github.com/interlock-harness/interlock/harness/target"
)

var failoverWhileUnknown = Info{
	Number: 58, Slug: "failover-while-unknown", Title: "the primary is silent and a certified fallback is at hand", Group: Failover, Level: 1,
	Fault:  "the primary holds its answer past the soft deadline",
	Expect: invariant.Expect{Invariants: []invariant.ID{"I3"}},
}

var _ = Describe(failoverWhileUnknown.text(), about(failoverWhileUnknown), func() {
	It("waits: an unknown attempt is no reason to ask somebody else", func(ctx SpecContext) {
		w := begin(ctx)
		client := w.Client("client-1")
		w.Recorder.Certified(history.CertifiedFacts{Provider: anthropic, Contract: contractOfStage, Valid: true})
		gate := w.Provider(openai).Hold(match("a"))
		intent := w.movingOn("a", anthropic)
		intent.DeadlineMS = soon.Milliseconds()
		job, err := client.Submit(ctx, w.Key("a"), intent)
		w.expect(err).NotTo(HaveOccurred())
		w.arrives(awaits(ctx, gate))
		_, err = w.AttemptState(within(ctx, toExpire), client, job.ID, 1, "unknown")
		w.expect(err).NotTo(HaveOccurred())

		By("seeing that nothing moves on, and that a person cannot make it")
		w.staysPut(ctx, "no call at the fallback", func() int { return len(w.Provider(anthropic).Calls(anyCall)) }, 0)
		_, err = client.StartAttempt(ctx, job.ID, w.Key("retry"), anthropic)
		w.expect(err).To(MatchError(target.Reason("attempt-in-flight")))

		By("letting the primary answer")
		gate.Release()
		_, err = w.Status(within(ctx, toComplete), client, job.ID, "succeeded")
		w.expect(err).NotTo(HaveOccurred())
	}, SpecTimeout(toPlay))
})
