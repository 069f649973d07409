package scenarios

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/interlock-harness/interlock/harness/invariant"
	"github.com/interlock-harness/interlock/harness/stage"
)

var twoWorkersOneJob = Info{
	Number: 43, Slug: "two-workers-one-job", Title: "two workers reach for the same attempt", Group: Attempts, Level: 2,
	Fault:  "the claim of each worker is held until both have seen the attempt waiting",
	Expect: invariant.Expect{Invariants: []invariant.ID{"I3", "I7"}, Faults: []string{"table-lock"}},
}

var _ = Describe(twoWorkersOneJob.text(), about(twoWorkersOneJob), func() {
	It("lets one of them call the provider, once", func(ctx SpecContext) {
		w := begin(ctx, stage.Isolated(stage.ServiceOptions{Workers: 2}))
		client := w.Client("client-1")

		By("holding the claims of both workers while jobs are submitted")
		jobs := map[string]string{}
		for round := range 8 {
			name := nth("job", round)
			lock, err := w.LockTable(ctx, "attempts", "SHARE")
			w.works(err)
			_, err = lock.Await(within(ctx, toArrive), 2)
			w.arrives(err)
			submitted := make(chan error, 1)
			go func() {
				job, err := client.Submit(ctx, w.Key(name), w.Intent(name))
				jobs[name] = job.ID
				submitted <- err
			}()
			_, err = lock.Await(within(ctx, toArrive), 3)
			w.arrives(err)
			w.works(lock.Release(ctx))
			w.expect(<-submitted).NotTo(HaveOccurred())
		}

		By("counting calls")
		for name, id := range jobs {
			_, err := w.Status(within(ctx, toComplete), client, id, "succeeded")
			w.expect(err).NotTo(HaveOccurred())
			w.expect(w.Provider(openai).Calls(match(name))).To(HaveLen(1))
		}
	}, SpecTimeout(toPlay))
})
