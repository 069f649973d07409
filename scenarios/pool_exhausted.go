package scenarios

import (
	"context"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/interlock-harness/interlock/harness/history"
	"github.com/interlock-harness/interlock/harness/invariant"
	"github.com/interlock-harness/interlock/harness/stage"
)

var poolExhausted = Info{
	Number: 25, Slug: "pool-exhausted", Title: "every connection to the database is taken", Group: Database, Level: 2,
	Fault:  "more calls than connections are held at the provider; and all that a replica sends to the database is held",
	Expect: invariant.Expect{Invariants: []invariant.ID{"I14"}},
}

// fewConnections is the pool of a process here.
const fewConnections = 4

var _ = Describe(poolExhausted.text(), about(poolExhausted), func() {
	It("holds no transaction open while a provider works", func(ctx SpecContext) {
		w := begin(ctx, stage.Isolated(stage.ServiceOptions{Replicas: 1, Lease: calm, Args: []string{"--pool-size", "4"}}))
		client, provider := w.Client("client-1"), w.Provider(openai)
		w.Recorder.Resources("postgres", history.ResourceFacts{})
		last := provider.Hold(match("last"))
		gate := provider.Hold(match("many"))
		jobs := map[string]bool{}
		for i := range fewConnections + 2 {
			job, err := client.Submit(ctx, w.Key(nth("many", i)), w.Intent("many"))
			w.expect(err).NotTo(HaveOccurred())
			jobs[job.ID] = true
		}
		w.arrives(awaits(ctx, gate))
		job, err := client.Submit(ctx, w.Key("last"), w.Intent("last"))
		w.expect(err).NotTo(HaveOccurred())
		_ = stage.Until(within(ctx, toArrive), "all calls are held", func(context.Context) (bool, error) {
			return last.Calls() > 0 && gate.Calls() == len(jobs), nil
		})

		By("counting transactions that stay open")
		open := w.openTransactions(ctx)
		w.Recorder.Resources("postgres", history.ResourceFacts{Connections: open})
		w.arrives(awaits(ctx, last))

		By("letting one finish while all others are held")
		last.Release()
		_, err = w.Status(within(ctx, toComplete), client, job.ID, "succeeded")
		w.expect(err).NotTo(HaveOccurred())
		gate.Release()
		for id := range jobs {
			_, err = w.Status(within(ctx, toComplete), client, id, "succeeded")
			w.expect(err).NotTo(HaveOccurred())
		}
	}, SpecTimeout(toPlay))

	It("makes its clients wait, and tells none of them anything that is not so", func(ctx SpecContext) {
		w := begin(ctx, stage.Isolated(stage.ServiceOptions{Replicas: 1, Args: []string{"--pool-size", "4"}}))
		w.exercises("I1", "I13")
		stalled, err := w.StallPostgres()
		w.works(err)
		const clicks = 3 * fewConnections
		answers := make([]answer, clicks)
		var clients sync.WaitGroup
		for i := range clicks {
			clients.Go(func() {
				answers[i].job, answers[i].err = w.Client(nth("client", i)).Submit(ctx, w.Key(nth("a", i/2)), w.Intent(nth("a", i/2)))
			})
		}
		w.arrives(stalled.Await(within(ctx, toArrive), fewConnections))
		w.works(stalled.Heal(ctx))
		clients.Wait()
		w.expect(idsOf(answers)).To(HaveLen(clicks/2), "two clicks for each job")
		for _, a := range answers {
			w.expect(a.err).NotTo(HaveOccurred())
		}
	}, SpecTimeout(toPlay))
})

// openTransactions counts the transactions of the service that do not end by
// themselves, once all others have: of a right service all do, so the bound is one
// for a careless service only.
func (w *World) openTransactions(ctx SpecContext) int {
	GinkgoHelper()
	if w.Rows().Settled(within(ctx, toArrive)) == nil {
		return 0
	}
	n, err := w.Rows().Count(ctx, `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state = 'idle in transaction'`)
	w.works(err)
	return n
}
