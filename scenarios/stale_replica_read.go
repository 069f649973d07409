package scenarios

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/interlock-harness/interlock/harness/invariant"
	"github.com/interlock-harness/interlock/harness/target"
)

var staleReplicaRead = Info{
	Number: 28, Slug: "stale-replica-read", Title: "one replica has seen a job before its end, the other shows the end", Group: Attempts, Level: 1,
	Fault:  "both replicas are read before each move of a job, and in turn after it",
	Expect: invariant.Expect{Invariants: []invariant.ID{"I9"}},
}

var _ = Describe(staleReplicaRead.text(), about(staleReplicaRead), func() {
	It("never shows less than was shown before, and starts nothing on old knowledge", func(ctx SpecContext) {
		w := begin(ctx)
		client := w.Client("client-1")
		at := []*target.Client{client.Through(w.Service.Replica(1).URL()), client.Through(w.Service.Replica(2).URL())}
		gate := w.Provider(openai).Hold(match("a"))
		job, err := client.Submit(ctx, w.Key("a"), w.Intent("a"))
		w.expect(err).NotTo(HaveOccurred())
		w.arrives(awaits(ctx, gate))
		read := func(status string) {
			GinkgoHelper()
			for _, replica := range at {
				seen, err := replica.Job(ctx, job.ID)
				w.expect(err).NotTo(HaveOccurred())
				w.expect(seen.Status).To(Equal(status))
			}
		}
		read("running")

		By("letting it finish, as its owner is shown")
		gate.Release()
		_, err = w.AttemptState(within(ctx, toComplete), client, job.ID, 1, "succeeded")
		w.expect(err).NotTo(HaveOccurred())
		shown, err := client.Jobs(ctx, w.Key("a"))
		w.expect(err).NotTo(HaveOccurred())
		w.expect(shown).To(HaveExactElements(HaveField("Status", "succeeded")))
		read("succeeded")
		for i, replica := range at {
			_, err = replica.StartAttempt(ctx, job.ID, w.Key(nth("retry", i)), "")
			w.expect(err).To(MatchError(target.Reason("job-terminal")))
		}
	}, SpecTimeout(toPlay))
})
