package scenarios

import (
	"context"
	"strings"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/interlock-harness/interlock/harness/invariant"
	"github.com/interlock-harness/interlock/harness/stage"
	"github.com/interlock-harness/interlock/harness/target"
)

var slowDripRequest = Info{
	Number: 16, Slug: "slow-drip-request", Title: "bodies that drip in and never end", Group: Submit, Level: 0,
	Fault:  "forty requests drip through a slicer, for far longer than a body may take",
	Expect: invariant.Expect{Invariants: []invariant.ID{"I14"}, Faults: []string{"slow-request"}},
}

const (
	dripping   = 40                     // requests at once
	bodyTime   = 250 * time.Millisecond // that a body may take here
	toLetGo    = 4 * bodyTime           // and after which every one of them must be gone
	dripSlack  = 10                     // what else a process may hold at any moment
	dripLength = 200                    // of the body, in kB: minutes at the pace of the drip
)

var _ = Describe(slowDripRequest.text(), about(slowDripRequest), func() {
	It("gives up on them, and holds nothing for them", func(ctx SpecContext) {
		w := begin(ctx, stage.Isolated(stage.ServiceOptions{Replicas: 1, Args: []string{"--body-time", bodyTime.String()}}))
		replica, client := w.Service.Replica(1), w.Client("client-1").Through(w.Service.Replica(1).URL())
		good, err := client.Submit(ctx, w.Key("good"), w.Intent("good"))
		w.expect(err).NotTo(HaveOccurred())
		_, err = w.Status(within(ctx, toComplete), client, good.ID, "succeeded")
		w.expect(err).NotTo(HaveOccurred())
		before, err := replica.Resources(ctx)
		w.works(err)
		before.Slack = dripSlack
		w.Recorder.Resources(replica.Name, before)

		By("letting forty bodies drip")
		drip, err := w.SlowRequest(ctx, 512, 10*time.Millisecond)
		w.works(err)
		intent := w.Intent("drip")
		intent.Input = map[string]any{"text": strings.Repeat("drip ", dripLength*1000/5)}
		calling, stop := context.WithCancel(ctx)
		defer stop()
		var clients sync.WaitGroup
		answers := make(chan error, dripping)
		for i := range dripping {
			clients.Go(func() {
				_, err := w.Client(nth("client", i)).Through(drip.URL()).Submit(calling, w.Key(nth("drip", i)), intent)
				answers <- err
			})
		}
		w.arrives(awaits(ctx, drip))

		By("counting what is held for them once their time is over")
		looking, cancel := context.WithTimeout(ctx, toLetGo)
		defer cancel()
		_ = stage.Until(looking, "nothing is held any more", func(ctx context.Context) (bool, error) {
			held, err := replica.Resources(ctx)
			return len(answers) == dripping && held.Goroutines <= before.Goroutines+dripSlack && held.Files <= before.Files+dripSlack, err
		})
		held, err := replica.Resources(ctx)
		w.works(err)
		w.Recorder.Resources(replica.Name, held)
		stop()
		clients.Wait()
		for range dripping {
			w.expect(target.IsUnknown(<-answers)).To(BeTrue(), "a request that was given up is answered with 408, or cut")
		}
	}, SpecTimeout(toPlay))
})
