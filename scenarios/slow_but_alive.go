package scenarios

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/interlock-harness/interlock/harness/invariant"
	"github.com/interlock-harness/interlock/harness/stage"
)

var slowButAlive = Info{
	Number: 75, Slug: "slow-but-alive", Title: "a call takes longer than the lease of its worker, which is alive", Group: Attempts, Level: 3,
	Fault:  "the provider holds its answer until the first lease has passed",
	Expect: invariant.Expect{Invariants: []invariant.ID{"I3", "I7"}},
}

var _ = Describe(slowButAlive.text(), about(slowButAlive), func() {
	It("is renewed, and nobody is sent to its rescue", func(ctx SpecContext) {
		w := begin(ctx, stage.Isolated(stage.ServiceOptions{Replicas: 1, Workers: 2, Lease: 5 * soon, Heartbeat: soon / 2}))
		client, provider := w.Client("client-1"), w.Provider(openai)
		gate := provider.Hold(match("slow"))
		job, err := client.Submit(ctx, w.Key("slow"), w.Intent("slow"))
		w.expect(err).NotTo(HaveOccurred())
		w.arrives(awaits(ctx, gate))
		w.arrives(stage.Until(within(ctx, toExpire), "the first lease has passed", func(ctx context.Context) (bool, error) {
			n, err := w.Rows().Count(ctx, `SELECT count(*) FROM attempts WHERE job_id = $1 AND since < clock_timestamp() - 6 * $2::bigint * interval '1 ms'`,
				job.ID, soon.Milliseconds())
			return n == 1, err
		}))

		By("seeing work that came later claimed and done")
		other, err := client.Submit(ctx, w.Key("other"), w.Intent("other"))
		w.expect(err).NotTo(HaveOccurred())
		_, err = w.Status(within(ctx, toComplete), client, other.ID, "succeeded")
		w.expect(err).NotTo(HaveOccurred())
		attempts, err := client.Attempts(ctx, job.ID)
		w.expect(err).NotTo(HaveOccurred())
		w.expect(attempts).To(HaveExactElements(HaveField("State", Or(Equal("running"), Equal("unknown")))), "a lease that was not renewed in time says nothing about the call")
		w.expect(provider.Calls(match("slow"))).To(HaveLen(1))
		gate.Release()
		_, err = w.Status(within(ctx, toComplete), client, job.ID, "succeeded")
		w.expect(err).NotTo(HaveOccurred())
	}, SpecTimeout(toPlay))
})
