package scenarios

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/interlock-harness/interlock/harness/invariant"
	"github.com/interlock-harness/interlock/harness/stage"
)

var deadlock40P01 = Info{
	Number: 27, Slug: "deadlock-40P01", Title: "PostgreSQL ends a result's transaction for a deadlock", Group: Database, Level: 2,
	Fault:  "the harness locks attempt and job in the other order than the service does: the service is the victim (40P01)",
	Expect: invariant.Expect{Invariants: []invariant.ID{"I3", "I10"}, Faults: []string{"deadlock"}},
}

var _ = Describe(deadlock40P01.text(), about(deadlock40P01), func() {
	It("stores the result in a second try", func(ctx SpecContext) {
		w := begin(ctx, stage.Isolated(stage.ServiceOptions{Replicas: 1, Lease: calm}))
		client := w.Client("client-1")
		gate := w.Provider(openai).Hold(match("a"))
		job, err := client.Submit(ctx, w.Key("a"), w.Intent("a"))
		w.expect(err).NotTo(HaveOccurred())
		w.arrives(awaits(ctx, gate))
		attempts, err := client.Attempts(ctx, job.ID)
		w.expect(err).NotTo(HaveOccurred())
		circle, err := w.Deadlock(ctx, job.ID, attempts[0].ID)
		w.works(err)
		gate.Release()
		w.arrives(circle.Close(ctx))
		w.works(circle.Heal(ctx))
		done, err := w.Status(within(ctx, toComplete), client, job.ID, "succeeded")
		w.expect(err).NotTo(HaveOccurred())
		w.expect(done.CompletedBy).To(Equal(attempts[0].ID))
		w.expect(w.Provider(openai).Calls(anyCall)).To(HaveLen(1))
	}, SpecTimeout(toPlay))
})
