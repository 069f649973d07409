package scenarios

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/interlock-harness/interlock/harness/history"
	"github.com/interlock-harness/interlock/harness/invariant"
	"github.com/interlock-harness/interlock/harness/stage"
	"github.com/interlock-harness/interlock/harness/target"
	"github.com/interlock-harness/interlock/providers/standin"
)

var stormThenHeal = Info{
	Number: 62, Slug: "storm-then-heal", Title: "fifty jobs under faults of every kind, then calm", Group: Database, Level: 2,
	Fault:  "by the run's seed: lost COMMITs and acknowledgements, lost answers, refused statements, refusing, silent and broken providers",
	Expect: invariant.Expect{Invariants: []invariant.ID{"I1", "I3", "I4", "I8", "I10", "I13", "I14"}},
}

const (
	stormJobs  = 50
	stormSlack = 12 // goroutines that come and go in a healthy process
)

var _ = Describe(stormThenHeal.text(), about(stormThenHeal), func() {
	It("leaves one job for each click, and nothing behind", func(ctx SpecContext) {
		w := begin(ctx)
		dice := rand.New(rand.NewPCG(uint64(GinkgoRandomSeed()), stormJobs))
		warm, err := w.Client("client-1").Submit(ctx, w.Key("warm"), w.Intent("warm"))
		w.expect(err).NotTo(HaveOccurred())
		_, err = w.Status(within(ctx, toComplete), w.Client("client-1"), warm.ID, "succeeded")
		w.expect(err).NotTo(HaveOccurred())
		before := w.resources(ctx)
		if !w.sees(3) { // a target that does not show what it holds
			w.exercises("I1", "I3", "I4", "I8", "I10", "I13")
		}

		By("arming faults for jobs that the seed picks")
		order := dice.Perm(stormJobs)
		name := func(i int) string { return fmt.Sprintf("job%02d", order[i]) } // the ith pick
		for i := range 4 {
			_, err = w.AckLost(stage.Victim(w.Key(name(i))))
			w.works(err)
			_, err = w.CommitLost(stage.Victim(w.Key(name(4 + i))))
			w.works(err)
			provider := w.Provider(openai)
			provider.Script(match(name(8+i)), standin.Failed(500), history.Unknown)
			provider.Script(match(name(12+i)), standin.Failed(429), history.Refused)
			provider.Script(match(name(16+i)), standin.Says("garbage"), history.Reject)
			provider.Script(match(name(20+i)), standin.Reset(), history.Unknown)
		}
		cut, err := w.LostResponse(ctx)
		w.works(err)
		_, err = w.FailStatement(ctx, "UPDATE", "jobs", fmt.Sprintf("NEW.owner = '%s' AND NEW.result IS NOT NULL", w.Owner(1).Owner), "40001", 3)
		w.works(err)

		By("clicking, and clicking again where nobody knows")
		ids := make([]string, stormJobs)
		var clients sync.WaitGroup
		for c := range 5 {
			clients.Go(func() {
				defer GinkgoRecover()
				client := w.Client(nth("client", c))
				for i := c; i < stormJobs; i += 5 {
					if i >= 24 && i < 30 { // their answers are lost
						_, err := client.Through(cut.URL()).Submit(ctx, w.Key(name(i)), w.Intent(name(i)))
						w.expect(target.IsUnknown(err)).To(BeTrue(), "%v", err)
					}
					job, err := client.Submit(ctx, w.Key(name(i)), w.Intent(name(i)))
					w.expect(err).NotTo(HaveOccurred())
					ids[i] = job.ID
				}
			})
		}
		clients.Wait()

		By("waiting until each has come as far as it can")
		for i, id := range ids {
			_, err := w.Status(within(ctx, toComplete), w.Client("client-1"), id, "succeeded", "failed", "unknown")
			w.expect(err).NotTo(HaveOccurred(), name(i))
		}
		w.works(w.Heal(ctx))
		w.leftNothing(ctx, before)
	}, SpecTimeout(toPlay))
})

// resources records what each process of the service holds, and how many
// transactions are open that do not end by themselves.
func (w *World) resources(ctx SpecContext) map[string]history.ResourceFacts {
	GinkgoHelper()
	all := map[string]history.ResourceFacts{}
	if !w.sees(3) {
		return all
	}
	for _, p := range w.Service.Processes() {
		held, err := p.Resources(ctx)
		w.works(err)
		held.Slack, held.Files = stormSlack, 0 // a pool that grew holds more files, and may
		w.Recorder.Resources(p.Name, held)
		all[p.Name] = held
	}
	w.Recorder.Resources("postgres", history.ResourceFacts{Connections: w.openTransactions(ctx)})
	return all
}

// leftNothing gives every process the time to come back to what it held before,
// and records what it holds then.
func (w *World) leftNothing(ctx SpecContext, before map[string]history.ResourceFacts) {
	GinkgoHelper()
	if !w.sees(3) {
		return
	}
	_ = stage.Until(within(ctx, toLetGo), "everything is as before", func(ctx context.Context) (bool, error) {
		for _, p := range w.Service.Processes() {
			held, err := p.Resources(ctx)
			if err != nil || held.Goroutines > before[p.Name].Goroutines+stormSlack {
				return false, err
			}
		}
		return true, nil
	})
	w.resources(ctx)
}
