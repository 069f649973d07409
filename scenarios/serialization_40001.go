package scenarios

import (
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/interlock-harness/interlock/harness/invariant"
	"github.com/interlock-harness/interlock/harness/stage"
)

var serialization40001 = Info{
	Number: 27, Slug: "serialization-40001", Title: "PostgreSQL cannot serialize a result's transaction", Group: Database, Level: 2,
	Fault:  "the statement that stores the result is refused twice with 40001",
	Expect: invariant.Expect{Invariants: []invariant.ID{"I3", "I10"}, Faults: []string{"statement-fails"}},
}

var _ = Describe(serialization40001.text(), about(serialization40001), func() {
	It("stores the result in a third try", func(ctx SpecContext) {
		w := begin(ctx, stage.Isolated(stage.ServiceOptions{Replicas: 1, Lease: calm}))
		client := w.Client("client-1")
		gate := w.Provider(openai).Hold(match("a"))
		job, err := client.Submit(ctx, w.Key("a"), w.Intent("a"))
		w.expect(err).NotTo(HaveOccurred())
		w.arrives(awaits(ctx, gate))
		_, err = w.FailStatement(ctx, "UPDATE", "jobs", fmt.Sprintf("NEW.id = '%s' AND NEW.result IS NOT NULL", job.ID), "40001", 2)
		w.works(err)
		gate.Release()
		done, err := w.Status(within(ctx, toComplete), client, job.ID, "succeeded")
		w.expect(err).NotTo(HaveOccurred())
		w.expect(done.Version).To(BeEquivalentTo(2), "the job changed once")
		w.expect(w.Provider(openai).Calls(anyCall)).To(HaveLen(1))
	}, SpecTimeout(toPlay))
})
