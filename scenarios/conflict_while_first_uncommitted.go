package scenarios

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/interlock-harness/interlock/harness/invariant"
	"github.com/interlock-harness/interlock/harness/stage"
)

var conflictWhileFirstUncommitted = Info{
	Number: 13, Slug: "conflict-while-first-uncommitted", Title: "clicks arrive while the first is not committed", Group: Database, Level: 2,
	Fault:  "the COMMIT of the first click is held until the same click, and another intent under its key, wait for it",
	Expect: invariant.Expect{Invariants: []invariant.ID{"I1", "I2"}, Faults: []string{"hold-commit"}},
}

var _ = Describe(conflictWhileFirstUncommitted.text(), about(conflictWhileFirstUncommitted), func() {
	It("answers them by what the first one became", func(ctx SpecContext) {
		w := begin(ctx)
		held, err := w.HoldCommit(stage.Victim(w.Key("a")))
		w.works(err)
		click := func(client, intent string) <-chan answer {
			answers := make(chan answer, 1)
			go func() {
				job, err := w.Client(client).Submit(ctx, w.Key("a"), w.Intent(intent))
				answers <- answer{job, err}
			}()
			return answers
		}
		first := click("client-1", "a")
		w.arrives(awaits(ctx, held))
		_, err = w.Rows().Writers(within(ctx, toArrive))
		w.arrives(err)
		same, other := click("client-2", "a"), click("client-3", "b")
		w.arrives(w.Rows().Blocked(within(ctx, toArrive), 2))

		By("letting the first one commit")
		held.Release()
		one := <-first
		w.expect(one.err).NotTo(HaveOccurred())
		two := <-same
		w.expect(two.err).NotTo(HaveOccurred())
		w.expect(two.job.ID).To(Equal(one.job.ID))
		w.expect(created([]answer{one, two})).To(Equal(1))
		three := <-other
		w.refuses(three.job, three.err)
		_, err = w.Status(within(ctx, toComplete), w.Client("client-1"), one.job.ID, "succeeded")
		w.expect(err).NotTo(HaveOccurred())
	}, SpecTimeout(toPlay))
})
