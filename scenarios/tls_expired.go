package scenarios

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/interlock-harness/interlock/harness/edge"
	"github.com/interlock-harness/interlock/harness/invariant"
	"github.com/interlock-harness/interlock/harness/stage"
)

var tlsExpired = Info{
	Number: 60, Slug: "tls-expired", Title: "a provider's TLS certificate has expired, or is another's", Group: Attempts, Level: 1,
	Fault:  "the listener in front of the provider shows a certificate that has expired; another one that of another host",
	Expect: invariant.Expect{Invariants: []invariant.ID{"I4", "I7"}, Faults: []string{"tls-flaw"}},
}

var _ = Describe(tlsExpired.text(), about(tlsExpired), func() {
	It("sends nothing, says so, and goes on when the certificate is good", func(ctx SpecContext) {
		flaws := map[string]edge.Flaw{openai: edge.Expired, anthropic: edge.WrongName}
		w := begin(ctx, stage.Isolated(stage.ServiceOptions{Replicas: 1, TLS: flaws}))
		client := w.Client("client-1")
		for provider := range flaws {
			intent := w.Intent(provider)
			intent.Provider = provider
			job, err := client.Submit(ctx, w.Key(provider), intent)
			w.expect(err).NotTo(HaveOccurred())
			attempt, err := w.AttemptState(within(ctx, toComplete), client, job.ID, 1, "failed", "unknown", "succeeded")
			w.expect(err).NotTo(HaveOccurred())
			w.expect(attempt.State).To(Equal("failed"), "no byte of the request can have left")
			w.arrives(awaits(ctx, w.TLS(provider)))
			w.expect(w.Provider(provider).Calls(anyCall)).To(BeEmpty())

			By("giving " + provider + " a good certificate")
			w.works(w.TLS(provider).Heal(ctx))
			_, err = client.StartAttempt(ctx, job.ID, w.Key(provider+"-retry"), "")
			w.expect(err).NotTo(HaveOccurred())
			_, err = w.Status(within(ctx, toComplete), client, job.ID, "succeeded")
			w.expect(err).NotTo(HaveOccurred())
		}
	}, SpecTimeout(toPlay))
})
