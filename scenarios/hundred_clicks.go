package scenarios

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/interlock-harness/interlock/harness/invariant"
	"github.com/interlock-harness/interlock/harness/target"
)

var hundredClicks = Info{
	Number: 3, Slug: "hundred-clicks", Title: "a hundred identical clicks at once make one job", Group: Submit, Level: 2,
	Fault:  "a hundred identical POSTs leave one barrier, and no insert goes through until all that can be under way are",
	Expect: invariant.Expect{Invariants: []invariant.ID{"I1", "I7"}, Faults: []string{"table-lock"}},
}

// poolOfBoth is how many connections the two replicas have to PostgreSQL.
const poolOfBoth = 2 * 16

var _ = Describe(hundredClicks.text(), about(hundredClicks), func() {
	It("answers every click with the same job", func(ctx SpecContext) {
		w := begin(ctx)
		lock, err := w.LockTable(ctx, "jobs", "SHARE")
		w.works(err)
		clicked := make(chan []answer, 1)
		go func() {
			clicked <- together(100, func(i int) (target.Job, error) {
				return w.Client(nth("client", i)).Submit(ctx, w.Key("a"), w.Intent("a"))
			})
		}()
		_, err = lock.Await(within(ctx, toArrive), poolOfBoth)
		w.arrives(err)
		w.works(lock.Release(ctx))

		answers := <-clicked
		w.expect(idsOf(answers)).To(HaveLen(1), "every click names one job")
		w.expect(created(answers)).To(Equal(1), "one click made it")
		_, err = w.Status(within(ctx, toComplete), w.Client("client-1"), answers[0].job.ID, "succeeded")
		w.expect(err).NotTo(HaveOccurred())
		w.expect(w.Provider(openai).Calls(anyCall)).To(HaveLen(1))
	}, SpecTimeout(toPlay))
})
