package scenarios

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/interlock-harness/interlock/harness/history"
	"github.com/interlock-harness/interlock/harness/invariant"
	"github.com/interlock-harness/interlock/harness/target"
)

var failoverUncertified = Info{
	Number: 56, Slug: "failover-uncertified", Title: "the primary refuses, and a fallback has no valid certificate", Group: Failover, Level: 1,
	Fault:  "the primary refuses each call; fallbacks have no, an expired, and another model's certificate",
	Expect: invariant.Expect{Invariants: []invariant.ID{"I12"}},
}

var _ = Describe(failoverUncertified.text(), about(failoverUncertified), func() {
	It("goes on at the certified fallback only, and says why not at the others", func(ctx SpecContext) {
		w := begin(ctx)
		client := w.Client("client-1")
		w.Provider(openai).Fails(anyCall, 403)
		w.Recorder.Certified(history.CertifiedFacts{Provider: anthropic, Contract: contractOfStage, Valid: true})

		for fallback, bad := range uncertified {
			By("failing over to " + fallback)
			w.Recorder.Certified(history.CertifiedFacts{Provider: fallback, Contract: contractOfStage, Valid: false, Why: bad.why})
			job, err := client.Submit(ctx, w.Key(fallback), w.movingOn(fallback, fallback))
			w.expect(err).NotTo(HaveOccurred())
			w.expect(w.denial(ctx, client, job.ID).Reason).To(Equal(fallback))
			answer, err := client.Failover(ctx, openai, fallback, contractOfStage)
			w.expect(err).NotTo(HaveOccurred())
			w.expect(answer.Reasons).To(ContainElement(HavePrefix(bad.code + ": ")))
			attempts, err := client.Attempts(ctx, job.ID)
			w.expect(err).NotTo(HaveOccurred())
			w.expect(attempts).To(HaveLen(1))
			w.expect(w.Provider(fallback).Calls(anyCall)).To(BeEmpty())
			_, err = client.StartAttempt(ctx, job.ID, w.Key(fallback+"-retry"), fallback)
			w.expect(err).To(MatchError(target.Reason("provider-not-certified")), "a person cannot get around the gate either")
		}

		By("failing over to the certified one")
		answer, err := client.Failover(ctx, openai, anthropic, contractOfStage)
		w.expect(err).NotTo(HaveOccurred())
		w.expect(answer.Reasons).To(BeEmpty())
		job, err := client.Submit(ctx, w.Key("good"), w.movingOn("good", neverCertified, anthropic))
		w.expect(err).NotTo(HaveOccurred())
		done, err := w.Status(within(ctx, toComplete), client, job.ID, "succeeded")
		w.expect(err).NotTo(HaveOccurred())
		attempts, err := client.Attempts(ctx, job.ID)
		w.expect(err).NotTo(HaveOccurred())
		w.expect(attempts).To(HaveExactElements(HaveField("Provider", openai), HaveField("Provider", anthropic)))
		w.expect(done.CompletedBy).To(Equal(attempts[1].ID))
	}, SpecTimeout(toPlay))
})

// movingOn is an intent that fails over by itself to the providers in turn.
func (w *World) movingOn(name string, fallbacks ...string) target.Intent {
	i := w.Intent(name)
	i.Failover = &target.Failover{Mode: "automatic", Providers: fallbacks}
	return i
}

// denial waits for the event that says that the gate refused.
func (w *World) denial(ctx SpecContext, client *target.Client, job string) history.Move {
	GinkgoHelper()
	var denied history.Move
	Eventually(ctx, func() ([]history.Move, error) {
		events, err := client.Events(ctx, job)
		for _, e := range events {
			if e.Type == "failover.denied" {
				denied = e
			}
		}
		return events, err
	}).WithTimeout(toComplete).Should(ContainElement(HaveField("Type", "failover.denied")))
	return denied
}
