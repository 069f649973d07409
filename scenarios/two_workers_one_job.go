package scenarios

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/interlock-harness/interlock/harness/invariant"
	"github.com/interlock-harness/interlock/harness/stage"
)

var twoWorkersOneJob = Info{
	Number: 43, Slug: "two-workers-one-job", Title: "two workers reach for the same attempt", Group: Attempts, Level: 2,
	Fault:  "the attempt's row is locked until both workers have reached for it",
	Expect: invariant.Expect{Invariants: []invariant.ID{"I3", "I7"}, Faults: []string{"attempt-row-lock"}},
}

var _ = Describe(twoWorkersOneJob.text(), about(twoWorkersOneJob), func() {
	It("lets one of them call the provider, once", func(ctx SpecContext) {
		w := begin(ctx, stage.Isolated(stage.ServiceOptions{Replicas: 1, Workers: -1}))
		client, provider := w.Client("client-1"), w.Provider(openai)
		gate, behind := provider.Hold(match("first")), provider.Hold(match("later"))
		first, err := client.Submit(ctx, w.Key("first"), w.Intent("first"))
		w.expect(err).NotTo(HaveOccurred())
		attempts, err := client.Attempts(ctx, first.ID)
		w.expect(err).NotTo(HaveOccurred())
		lock, err := w.LockAttempt(ctx, attempts[0].ID)
		w.works(err)
		for range 2 {
			_, err = w.Service.AddWorker(ctx)
			w.works(err)
		}

		By("waiting until both go past the locked row, as they must, or wait for it")
		later, err := client.Submit(ctx, w.Key("later"), w.Intent("later"))
		w.expect(err).NotTo(HaveOccurred())
		w.arrives(stage.Until(within(ctx, toArrive), "what came later is called, or both workers wait", func(ctx context.Context) (bool, error) {
			waiters, err := lock.Waiters(ctx)
			if err != nil || len(waiters) >= 2 {
				return err == nil, err
			}
			return behind.Calls() > 0, nil
		}))
		lock.Seen("what came later is called, or both workers wait")

		By("letting the row go, and counting calls while the first is held")
		w.works(lock.Release(ctx))
		w.arrives(awaits(ctx, gate))
		w.arrives(awaits(ctx, behind))
		w.works(w.Rows().Settled(within(ctx, toArrive))) // whoever waited for the row has it, or not
		_ = provider.Await(within(ctx, toStayPut), match("first"), 2)
		gate.Release()
		behind.Release()
		for name, id := range map[string]string{"first": first.ID, "later": later.ID} {
			_, err := w.Status(within(ctx, toComplete), client, id, "succeeded")
			w.expect(err).NotTo(HaveOccurred())
			w.expect(provider.Calls(match(name))).To(HaveLen(1))
		}
	}, SpecTimeout(toPlay))
})
