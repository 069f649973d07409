package scenarios

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/interlock-harness/interlock/harness/history"
	"github.com/interlock-harness/interlock/harness/invariant"
	"github.com/interlock-harness/interlock/harness/stage"
	"github.com/interlock-harness/interlock/providers/standin"
)

var sseDripPastIdleTimeout = Info{
	Number: 49, Slug: "sse-drip-past-idle-timeout", Title: "a stream drips past the deadline, and then says nothing more", Group: Attempts, Level: 1,
	Fault:  "the provider sends an event now and then until after the soft deadline, and is silent until the hard limit",
	Expect: invariant.Expect{Invariants: []invariant.ID{"I4"}},
}

var _ = Describe(sseDripPastIdleTimeout.text(), about(sseDripPastIdleTimeout), func() {
	It("is unknown at the deadline, and at the hard limit still", func(ctx SpecContext) {
		w := begin(ctx, stage.Isolated(stage.ServiceOptions{Replicas: 1, Deadline: soon, HardLimit: 3 * soon}))
		client, provider := w.Client("client-1"), w.Provider(openai)
		provider.Script(match("a"), standin.Answer{Drip: 20 * time.Millisecond, Cut: &standin.Point{Delta: 3}, CutBy: standin.CutStall}, history.Unknown)
		intent := w.streaming("a")
		intent.DeadlineMS = soon.Milliseconds()
		job, err := client.Submit(ctx, w.Key("a"), intent)
		w.expect(err).NotTo(HaveOccurred())
		_, err = w.AttemptState(within(ctx, toExpire), client, job.ID, 1, "unknown")
		w.expect(err).NotTo(HaveOccurred())

		By("waiting until the worker gives the connection up")
		w.arrives(provider.AwaitEnd(within(ctx, toExpire), match("a"), 1))
		w.staysPut(ctx, "an unknown attempt", func() int {
			attempts, err := client.Attempts(ctx, job.ID)
			w.works(err)
			if len(attempts) == 1 && attempts[0].State == "unknown" {
				return 1
			}
			return 0
		}, 1)
	}, SpecTimeout(toPlay))
})
