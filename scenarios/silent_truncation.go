package scenarios

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/interlock-harness/interlock/harness/history"
	"github.com/interlock-harness/interlock/harness/invariant"
	"github.com/interlock-harness/interlock/providers/standin"
)

var silentTruncation = Info{
	Number: 77, Slug: "silent-truncation", Title: "half an answer, and nothing says that it is half", Group: Attempts, Level: 1,
	Fault:  "a body without a length, which the close of the connection ends, is closed after some of it; and one with a length",
	Expect: invariant.Expect{Invariants: []invariant.ID{"I4"}},
}

var _ = Describe(silentTruncation.text(), about(silentTruncation), func() {
	It("is no answer", func(ctx SpecContext) {
		w := begin(ctx)
		client, provider := w.Client("client-1"), w.Provider(openai)
		for name, script := range map[string]standin.Answer{
			"close": {CloseFramed: true, Cut: &standin.Point{Bytes: 150}}, "length": {Cut: &standin.Point{Bytes: 150}}, "empty": {CloseFramed: true, Cut: &standin.Point{Headers: true}},
		} {
			provider.Script(match(name), script, history.Unknown)
			job, err := client.Submit(ctx, w.Key(name), w.Intent(name))
			w.expect(err).NotTo(HaveOccurred())
			attempt, err := w.AttemptState(within(ctx, toComplete), client, job.ID, 1, "unknown", "failed", "succeeded")
			w.expect(err).NotTo(HaveOccurred())
			w.expect(attempt.State).To(Equal("unknown"), name)
		}
	}, SpecTimeout(toPlay))
})
