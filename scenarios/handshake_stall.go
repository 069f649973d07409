package scenarios

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/interlock-harness/interlock/harness/edge"
	"github.com/interlock-harness/interlock/harness/invariant"
	"github.com/interlock-harness/interlock/harness/stage"
	"github.com/interlock-harness/interlock/harness/target"
)

var handshakeStall = Info{
	Number: 60, Slug: "handshake-stall", Title: "a provider takes the connection and never answers the TLS handshake", Group: Attempts, Level: 1,
	Fault:  "the listener in front of the provider is silent after the connection is made, past the deadline and the hard limit",
	Expect: invariant.Expect{Invariants: []invariant.ID{"I3", "I4"}, Faults: []string{"tls-flaw"}},
}

var _ = Describe(handshakeStall.text(), about(handshakeStall), func() {
	It("waits without knowing, then knows that nothing was sent", func(ctx SpecContext) {
		w := begin(ctx, stage.Isolated(stage.ServiceOptions{Replicas: 1, Deadline: soon, HardLimit: 4 * soon, TLS: map[string]edge.Flaw{openai: edge.Silent}}))
		client := w.Client("client-1")
		job, err := client.Submit(ctx, w.Key("a"), w.soonDue("a"))
		w.expect(err).NotTo(HaveOccurred())
		_, err = w.AttemptState(within(ctx, toExpire), client, job.ID, 1, "unknown")
		w.expect(err).NotTo(HaveOccurred())
		w.arrives(awaits(ctx, w.TLS(openai)))
		_, err = client.StartAttempt(ctx, job.ID, w.Key("early"), "")
		w.expect(err).To(MatchError(target.Reason("attempt-in-flight")))

		By("waiting for the hard limit: the handshake is given up, and no byte had left")
		attempt, err := w.AttemptState(within(ctx, toExpire), client, job.ID, 1, "failed")
		w.expect(err).NotTo(HaveOccurred())
		w.expect(attempt.Reason).To(HavePrefix("not_sent"))
		w.works(w.TLS(openai).Heal(ctx))
		_, err = client.StartAttempt(ctx, job.ID, w.Key("retry"), "")
		w.expect(err).NotTo(HaveOccurred())
		_, err = w.Status(within(ctx, toComplete), client, job.ID, "succeeded")
		w.expect(err).NotTo(HaveOccurred())
		w.expect(w.Provider(openai).Calls(anyCall)).To(HaveLen(1))
	}, SpecTimeout(toPlay))
})
