package scenarios

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/interlock-harness/interlock/harness/history"
	"github.com/interlock-harness/interlock/harness/invariant"
	"github.com/interlock-harness/interlock/providers/standin"
)

var staleSettle = Info{
	Number: 74, Slug: "stale-settle", Title: "an attempt ends badly after another one has won", Group: Completion, Level: 1,
	Fault:  "the first of two attempts is refused, rejected or cut off after the second has won",
	Expect: invariant.Expect{Invariants: []invariant.ID{"I5", "I6"}},
}

var _ = Describe(staleSettle.text(), about(staleSettle), func() {
	for name, end := range map[string]struct {
		answer standin.Answer
		means  string
		state  string // of the first attempt in the end
	}{
		"refused":  {standin.Failed(400), history.Refused, "failed"},
		"rejected": {standin.Says("garbage"), history.Reject, "failed"},
		"cut off":  {standin.Reset(), history.Unknown, "released"},
	} {
		It("changes nothing when the first attempt is "+name, func(ctx SpecContext) {
			w := begin(ctx)
			r := w.raceOfTwo(ctx, releaseFirst, firstEnds(end.answer, end.means))
			r.second.Release()
			won, err := w.Status(within(ctx, toComplete), r.client, r.job, "succeeded")
			w.expect(err).NotTo(HaveOccurred())

			By("ending the first attempt badly, too late")
			r.first.Release()
			w.arrives(w.Provider(openai).AwaitEnd(within(ctx, toArrive), callOf("a", 1), 1))
			w.becomes(ctx, r, 1, end.state)
			after, err := r.client.Job(ctx, r.job)
			w.expect(err).NotTo(HaveOccurred())
			w.expect(after.Version).To(Equal(won.Version))
		}, SpecTimeout(toPlay))
	}
})
