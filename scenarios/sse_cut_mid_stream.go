package scenarios

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/interlock-harness/interlock/harness/history"
	"github.com/interlock-harness/interlock/harness/invariant"
	"github.com/interlock-harness/interlock/providers/standin"
)

var sseCutMidStream = Info{
	Number: 46, Slug: "sse-cut-mid-stream", Title: "a stream breaks off in the middle of the answer", Group: Attempts, Level: 1,
	Fault:  "the provider closes, or resets, the connection after a few events of the stream",
	Expect: invariant.Expect{Invariants: []invariant.ID{"I4"}},
}

var _ = Describe(sseCutMidStream.text(), about(sseCutMidStream), func() {
	It("does not know how it would have gone on, and stores nothing", func(ctx SpecContext) {
		w := begin(ctx)
		client, provider := w.Client("client-1"), w.Provider(openai)
		for name, script := range map[string]standin.Answer{
			"one": standin.CutAfter(1, standin.CutFIN), "two": standin.CutAfter(2, standin.CutFIN), "reset": standin.CutAfter(1, standin.CutReset),
		} {
			provider.Script(match(name), script, history.Unknown)
			job, err := client.Submit(ctx, w.Key(name), w.streaming(name))
			w.expect(err).NotTo(HaveOccurred())
			attempt, err := w.AttemptState(within(ctx, toComplete), client, job.ID, 1, "unknown", "failed", "succeeded")
			w.expect(err).NotTo(HaveOccurred())
			w.expect(attempt.State).To(Equal("unknown"), name)
			after, err := client.Job(ctx, job.ID)
			w.expect(err).NotTo(HaveOccurred())
			w.expect(after.Result).To(BeEmpty())
		}
	}, SpecTimeout(toPlay))
})
