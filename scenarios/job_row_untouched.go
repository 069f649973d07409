package scenarios

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/interlock-harness/interlock/harness/invariant"
)

var jobRowUntouched = Info{
	Number: 70, Slug: "job-row-untouched", Title: "attempts come and go and the job's row stays as it is", Group: Attempts, Level: 2,
	Fault:  "the provider refuses five attempts, one after the other",
	Expect: invariant.Expect{Invariants: []invariant.ID{"I16"}},
}

var _ = Describe(jobRowUntouched.text(), about(jobRowUntouched), func() {
	It("does not write the job while five attempts fail", func(ctx SpecContext) {
		w := begin(ctx)
		client := w.Client("client-1")
		w.Provider(openai).Fails(match("a"), 400)
		job, err := client.Submit(ctx, w.Key("a"), w.Intent("a"))
		w.expect(err).NotTo(HaveOccurred())
		_, err = w.AttemptState(within(ctx, toComplete), client, job.ID, 1, "failed")
		w.expect(err).NotTo(HaveOccurred())
		w.works(w.Audit(ctx))
		for n := 2; n <= 5; n++ {
			_, err := client.StartAttempt(ctx, job.ID, w.Key(nth("retry", n)), "")
			w.expect(err).NotTo(HaveOccurred())
			_, err = w.AttemptState(within(ctx, toComplete), client, job.ID, n, "failed")
			w.expect(err).NotTo(HaveOccurred())
			w.works(w.Audit(ctx))
		}
		after, err := client.Job(ctx, job.ID)
		w.expect(err).NotTo(HaveOccurred())
		w.expect(after.Version).To(BeEquivalentTo(1))
		w.expect(after.Attempts).To(Equal(5))
	}, SpecTimeout(toPlay))
})
