package scenarios

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/interlock-harness/interlock/harness/invariant"
	"github.com/interlock-harness/interlock/harness/target"
)

var providerStallThenSecondAttempt = Info{
	Number: 30, Slug: "provider-stall-then-second-attempt", Title: "a retry is asked for while the first attempt is unknown", Group: Attempts, Level: 1,
	Fault:  "the provider holds its answer past the soft deadline, and the owner clicks retry",
	Expect: invariant.Expect{Invariants: []invariant.ID{"I3"}},
	Labels: []string{Breakpoints},
}

var _ = Describe(providerStallThenSecondAttempt.text(), about(providerStallThenSecondAttempt), func() {
	It("starts no second attempt until the first one is out of the way", func(ctx SpecContext) {
		w := begin(ctx)
		client := w.Client("client-1")
		gate := w.Provider(openai).Hold(match("a"))
		job, err := client.Submit(ctx, w.Key("a"), w.soonDue("a"))
		w.expect(err).NotTo(HaveOccurred())
		w.arrives(awaits(ctx, gate))
		_, err = w.AttemptState(within(ctx, toExpire), client, job.ID, 1, "unknown")
		w.expect(err).NotTo(HaveOccurred())

		By("clicking retry, at both replicas at once")
		for _, replica := range []int{1, 2} {
			_, err = client.Through(w.Service.Replica(replica).URL()).StartAttempt(ctx, job.ID, w.Key(nth("retry", replica)), "")
			w.expect(err).To(MatchError(target.Reason("attempt-in-flight")))
		}
		w.staysPut(ctx, "one attempt and one call", func() int {
			attempts, err := client.Attempts(ctx, job.ID)
			w.works(err)
			return len(attempts)*100 + len(w.Provider(openai).Calls(anyCall))
		}, 101)

		By("letting the first attempt answer")
		gate.Release()
		_, err = w.Status(within(ctx, toComplete), client, job.ID, "succeeded")
		w.expect(err).NotTo(HaveOccurred())
	}, SpecTimeout(toPlay))
})
