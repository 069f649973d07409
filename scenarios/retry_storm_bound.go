package scenarios

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/interlock-harness/interlock/harness/history"
	"github.com/interlock-harness/interlock/harness/invariant"
	"github.com/interlock-harness/interlock/harness/stage"
	"github.com/interlock-harness/interlock/harness/target"
)

var retryStormBound = Info{
	Number: 66, Slug: "retry-storm-bound", Title: "providers that always refuse, or never answer, and impatient clients", Group: Failover, Level: 1,
	Fault:  "three providers refuse each call; one is silent past the deadline while twenty clients click retry",
	Expect: invariant.Expect{Invariants: []invariant.ID{"I3", "I7", "I10"}},
}

var _ = Describe(retryStormBound.text(), about(retryStormBound), func() {
	It("bounds what one job may cost, whoever pushes", func(ctx SpecContext) {
		w := begin(ctx, stage.Isolated(stage.ServiceOptions{MaxAttempts: 2}))
		client := w.Client("client-1")
		for _, provider := range []string{openai, anthropic} {
			w.Provider(provider).Script(match("refused"), stage.Answer{Status: 429, RetryAfter: "60"}, history.Refused)
		}
		refused, err := client.Submit(ctx, w.Key("refused"), w.movingOn("refused", anthropic))
		w.expect(err).NotTo(HaveOccurred())
		_, err = w.AttemptState(within(ctx, toComplete), client, refused.ID, 2, "failed")
		w.expect(err).NotTo(HaveOccurred())
		after, err := client.Job(ctx, refused.ID)
		w.expect(err).NotTo(HaveOccurred())
		w.expect(after.Attempts).To(Equal(2), "its attempts are counted together, wherever they went")

		By("clicking retry from twenty clients while a provider is silent")
		gate := w.Provider(openai).Hold(match("silent"))
		silent, err := client.Submit(ctx, w.Key("silent"), w.soonDue("silent"))
		w.expect(err).NotTo(HaveOccurred())
		w.arrives(awaits(ctx, gate))
		_, err = w.AttemptState(within(ctx, toExpire), client, silent.ID, 1, "unknown")
		w.expect(err).NotTo(HaveOccurred())
		for _, a := range together(20, func(i int) (target.Job, error) {
			_, err := w.Client(nth("client", i)).StartAttempt(ctx, silent.ID, w.Key(nth("retry", i)), "")
			return target.Job{}, err
		}) {
			w.expect(a.err).To(MatchError(target.Reason("attempt-in-flight")))
		}
		w.expect(w.Provider(openai).Calls(match("silent"))).To(HaveLen(1))
		gate.Release()
		_, err = w.Status(within(ctx, toComplete), client, silent.ID, "succeeded")
		w.expect(err).NotTo(HaveOccurred())
	}, SpecTimeout(toPlay))
})
