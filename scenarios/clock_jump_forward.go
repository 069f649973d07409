package scenarios

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/interlock-harness/interlock/harness/invariant"
	"github.com/interlock-harness/interlock/harness/stage"
)

var clockJumpForward = Info{
	Number: 42, Slug: "clock-jump-forward", Title: "the clock of the database jumps an hour ahead", Group: Attempts, Level: 4,
	Fault:  "the database's clock jumps forward by an hour while a provider works",
	Expect: invariant.Expect{Invariants: []invariant.ID{"I3", "I4"}, Faults: []string{"clock-jump"}},
}

var _ = Describe(clockJumpForward.text(), about(clockJumpForward), func() {
	It("may lose track of an attempt, and never calls it failed", func(ctx SpecContext) {
		w := begin(ctx, stage.Isolated(stage.ServiceOptions{Replicas: 1, Clock: true, Lease: calm, Heartbeat: calm / 2}))
		client, provider := w.Client("client-1"), w.Provider(openai)
		gate := provider.Hold(match("a"))
		job, err := client.Submit(ctx, w.Key("a"), w.Intent("a"))
		w.expect(err).NotTo(HaveOccurred())
		w.arrives(awaits(ctx, gate))
		_, err = w.JumpClock(ctx, time.Hour)
		w.works(err)
		attempt, err := w.AttemptState(within(ctx, toExpire), client, job.ID, 1, "unknown", "failed")
		w.expect(err).NotTo(HaveOccurred(), "the lease lies an hour back")
		w.expect(attempt.State).To(Equal("unknown"))
		gate.Release()
		_, err = w.Status(within(ctx, toComplete), client, job.ID, "succeeded")
		w.expect(err).NotTo(HaveOccurred(), "the answer is as good as before")
		w.expect(provider.Calls(anyCall)).To(HaveLen(1))
	}, SpecTimeout(toPlay))
})
