package scenarios

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/interlock-harness/interlock/harness/history"
	"github.com/interlock-harness/interlock/harness/invariant"
	"github.com/interlock-harness/interlock/providers/standin"
)

var sseCutBeforeTerminator = Info{
	Number: 47, Slug: "sse-cut-before-terminator", Title: "every word of a stream comes, and its end does not", Group: Attempts, Level: 1,
	Fault:  "the provider closes the connection in order after the last word: no finish reason, no end marker",
	Expect: invariant.Expect{Invariants: []invariant.ID{"I4"}},
}

var _ = Describe(sseCutBeforeTerminator.text(), about(sseCutBeforeTerminator), func() {
	It("does not take the end of a connection for the end of an answer", func(ctx SpecContext) {
		w := begin(ctx)
		client, provider := w.Client("client-1"), w.Provider(openai)
		for name, script := range map[string]standin.Answer{"chunked": {NoTerminator: true}, "closed": {NoTerminator: true, CloseFramed: true}} {
			provider.Script(match(name), script, history.Unknown)
			job, err := client.Submit(ctx, w.Key(name), w.streaming(name))
			w.expect(err).NotTo(HaveOccurred())
			attempt, err := w.AttemptState(within(ctx, toComplete), client, job.ID, 1, "unknown", "failed", "succeeded")
			w.expect(err).NotTo(HaveOccurred())
			w.expect(attempt.State).To(Equal("unknown"), name)
		}
	}, SpecTimeout(toPlay))
})
