package scenarios

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/interlock-harness/interlock/harness/history"
	"github.com/interlock-harness/interlock/harness/invariant"
)

var keepalivePingsNoTokens = Info{
	Number: 65, Slug: "keepalive-pings-no-tokens", Title: "a stream of pings, and never a word", Group: Attempts, Level: 1,
	Fault:  "the provider holds the connection open with comments past the deadline, and for ever",
	Expect: invariant.Expect{Invariants: []invariant.ID{"I4", "I10"}},
}

var _ = Describe(keepalivePingsNoTokens.text(), about(keepalivePingsNoTokens), func() {
	It("does not take a sign of life for work", func(ctx SpecContext) {
		w := begin(ctx)
		client, provider := w.Client("client-1"), w.Provider(openai)
		provider.Script(match("a"), pinging(), history.Unknown)
		intent := w.streaming("a")
		intent.DeadlineMS = soon.Milliseconds()
		job, err := client.Submit(ctx, w.Key("a"), intent)
		w.expect(err).NotTo(HaveOccurred())
		attempt, err := w.AttemptState(within(ctx, toExpire), client, job.ID, 1, "unknown", "failed")
		w.expect(err).NotTo(HaveOccurred())
		w.expect(attempt.State).To(Equal("unknown"))
		w.expect(attempt.Reason).To(Equal("deadline"))
	}, SpecTimeout(toPlay))
})
