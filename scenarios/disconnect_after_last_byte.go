package scenarios

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/interlock-harness/interlock/harness/history"
	"github.com/interlock-harness/interlock/harness/invariant"
	"github.com/interlock-harness/interlock/providers/standin"
)

var disconnectAfterLastByte = Info{
	Number: 48, Slug: "disconnect-after-last-byte", Title: "the whole answer comes, and then the connection breaks", Group: Completion, Level: 1,
	Fault:  "the provider closes the connection right after the end marker, before the framing says that the body is over",
	Expect: invariant.Expect{Invariants: []invariant.ID{"I4", "I5"}},
}

var _ = Describe(disconnectAfterLastByte.text(), about(disconnectAfterLastByte), func() {
	It("takes the answer that it has", func(ctx SpecContext) {
		w := begin(ctx)
		client, provider := w.Client("client-1"), w.Provider(openai)
		provider.Script(match("a"), standin.Answer{Cut: &atTheEnd, CutBy: standin.CutFIN}, history.Accept)
		job, err := client.Submit(ctx, w.Key("a"), w.streaming("a"))
		w.expect(err).NotTo(HaveOccurred())
		attempt, err := w.AttemptState(within(ctx, toComplete), client, job.ID, 1, "unknown", "failed", "succeeded")
		w.expect(err).NotTo(HaveOccurred())
		w.expect(attempt.State).To(Equal("succeeded"), "its end marker came")
		w.expect(provider.Calls(anyCall)).To(HaveLen(1))
	}, SpecTimeout(toPlay))
})
