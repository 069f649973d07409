package scenarios

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/interlock-harness/interlock/harness/history"
	"github.com/interlock-harness/interlock/harness/invariant"
	"github.com/interlock-harness/interlock/harness/stage"
)

var zombieWorkerWakes = Info{
	Number: 41, Slug: "zombie-worker-wakes", Title: "a worker stands still past its lease, and wakes up with an answer", Group: Completion, Level: 3,
	Fault:  "SIGSTOP of a worker in mid-call until its lease has passed and a rival has finished; then SIGCONT",
	Expect: invariant.Expect{Invariants: []invariant.ID{"I5", "I6"}, Faults: []string{"pause"}},
}

var _ = Describe(zombieWorkerWakes.text(), about(zombieWorkerWakes), func() {
	It("finds that it came too late", func(ctx SpecContext) {
		w := begin(ctx, stage.Isolated(stage.ServiceOptions{Replicas: 1, Lease: 2 * soon, Heartbeat: soon}))
		client, provider := w.Client("client-1"), w.Provider(openai)
		provider.Script(callOf("a", 1), saying("zombie"), history.Accept)
		provider.Script(callOf("a", 2), saying("rival"), history.Accept)
		gate := provider.Hold(callOf("a", 1))
		job, err := client.Submit(ctx, w.Key("a"), w.Intent("a"))
		w.expect(err).NotTo(HaveOccurred())
		w.arrives(awaits(ctx, gate))
		still, err := w.Pause(ctx, w.Service.Worker(1))
		w.works(err)
		zombie, err := w.AttemptState(within(ctx, toExpire), client, job.ID, 1, "unknown")
		w.expect(err).NotTo(HaveOccurred())

		By("letting a rival finish")
		_, err = w.Operator().Release(ctx, job.ID, 1, "its worker is gone")
		w.expect(err).NotTo(HaveOccurred())
		_, err = w.Service.AddWorker(ctx)
		w.works(err)
		rival, err := client.StartAttempt(ctx, job.ID, w.Key("retry"), "")
		w.expect(err).NotTo(HaveOccurred())
		done, err := w.Status(within(ctx, toComplete), client, job.ID, "succeeded")
		w.expect(err).NotTo(HaveOccurred())
		w.expect(done.CompletedBy).To(Equal(rival.ID))

		By("waking the first worker up with its answer")
		gate.Release()
		w.works(still.Heal(ctx))
		_, err = w.AttemptState(within(ctx, toComplete), client, job.ID, 1, "lost", "succeeded")
		w.expect(err).NotTo(HaveOccurred())
		after, err := client.Job(ctx, job.ID)
		w.expect(err).NotTo(HaveOccurred())
		w.expect(after.CompletedBy).To(Equal(rival.ID))
		w.expect(string(after.Result)).To(ContainSubstring("rival"))
		races, err := client.Races(ctx, job.ID)
		w.expect(err).NotTo(HaveOccurred())
		w.expect(races).To(HaveExactElements(raceWon(zombie.ID, rival.ID)))
	}, SpecTimeout(toPlay))
})
