package scenarios

import (
	"fmt"
	"net/http"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/interlock-harness/interlock/harness/invariant"
	"github.com/interlock-harness/interlock/harness/stage"
	"github.com/interlock-harness/interlock/harness/target"
)

var firstRollsBackSecondWins = Info{
	Number: 14, Slug: "first-rolls-back-second-wins", Title: "the first click is rolled back, the second comes through", Group: Database, Level: 2,
	Fault:  "the first insert fails in the database; or its backend is ended while a second click waits for it",
	Expect: invariant.Expect{Invariants: []invariant.ID{"I1"}},
}

var _ = Describe(firstRollsBackSecondWins.text(), about(firstRollsBackSecondWins), func() {
	It("does not remember a failure as the answer of the key", func(ctx SpecContext) {
		w := begin(ctx)
		w.exercises("I1", "I10")
		client := w.Client("client-1").Through(w.Service.Replica(1).URL())
		failing, err := w.FailStatement(ctx, "INSERT", "jobs", fmt.Sprintf("NEW.key = '%s'", w.Key("a")), "53400", 1)
		w.works(err)
		_, err = client.Submit(ctx, w.Key("a"), w.Intent("a"))
		w.expect(target.IsUnknown(err)).To(BeTrue(), "the database refused: %v", err)
		w.works(failing.Heal(ctx))
		w.expect(failing.Fired()).To(BeTrue())

		By("clicking again, once nothing is broken any more")
		other, err := client.Submit(ctx, w.Key("b"), w.Intent("b"))
		w.expect(err).NotTo(HaveOccurred())
		job, err := client.Submit(ctx, w.Key("a"), w.Intent("a"))
		w.expect(err).NotTo(HaveOccurred())
		w.expect(job.ID).NotTo(Equal(other.ID))
		w.expect(job.Answer.Status).To(Equal(http.StatusCreated))
		_, err = w.Status(within(ctx, toComplete), client, job.ID, "succeeded")
		w.expect(err).NotTo(HaveOccurred())
	}, SpecTimeout(toPlay))

	It("lets the second click through when the first one's transaction dies", func(ctx SpecContext) {
		w := begin(ctx)
		held, err := w.HoldCommit(stage.Victim(w.Key("a")))
		w.works(err)
		answers := make(chan answer, 2)
		click := func(i int) {
			defer GinkgoRecover()
			job, err := w.Client(nth("client", i)).Submit(ctx, w.Key("a"), w.Intent("a"))
			answers <- answer{job, err}
		}
		go click(0)
		w.arrives(awaits(ctx, held))
		first, err := w.Rows().Writers(within(ctx, toArrive))
		w.arrives(err)
		go click(1)
		w.arrives(w.Rows().Blocked(within(ctx, toArrive), 1))

		By("ending the backend of the first click")
		_, err = w.Terminate(ctx, first[0])
		w.works(err)
		both := []answer{<-answers, <-answers}
		w.expect(idsOf(both)).To(HaveLen(1), "both clicks name one job")
		w.expect(created(both)).To(Equal(1))
	}, SpecTimeout(toPlay))
})
