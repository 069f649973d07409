package scenarios

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/interlock-harness/interlock/harness/invariant"
	"github.com/interlock-harness/interlock/harness/stage"
	"github.com/interlock-harness/interlock/harness/target"
)

var crashAfterAnswerBeforeCAS = Info{
	Number: 39, Slug: "crash-after-answer-before-cas", Title: "a worker dies with the answer in its hands", Group: Completion, Level: 3,
	Fault:  "kill -9 of the only worker while its result waits for the job's row",
	Expect: invariant.Expect{Invariants: []invariant.ID{"I4", "I8"}, Faults: []string{"job-row-lock", "kill"}},
}

var _ = Describe(crashAfterAnswerBeforeCAS.text(), about(crashAfterAnswerBeforeCAS), func() {
	It("leaves the attempt unknown, for somebody with evidence", func(ctx SpecContext) {
		w := beginEnding(ctx, stage.ServiceOptions{Replicas: 1, Lease: 3 * soon, Heartbeat: soon})
		client := w.Client("client-1")
		gate := w.Provider(openai).Hold(match("a"))
		job, err := client.Submit(ctx, w.Key("a"), w.Intent("a"))
		w.expect(err).NotTo(HaveOccurred())
		w.arrives(awaits(ctx, gate))
		lock, err := w.LockJob(ctx, job.ID)
		w.works(err)
		gate.Release()
		_, err = lock.Await(within(ctx, toArrive), 1)
		w.arrives(err)

		By("killing the worker that waits to write its result")
		killed, err := w.Kill(w.Service.Worker(1))
		w.works(err)
		w.works(lock.Release(ctx))
		w.backUp(ctx, killed)
		attempt, err := w.AttemptState(within(ctx, w.expired()), client, job.ID, 1, "unknown", "failed", "succeeded")
		w.expect(err).NotTo(HaveOccurred())
		w.expect(attempt.State).To(Equal("unknown"), "the provider did the work")

		By("starting a worker again, and telling the service what the provider's log says")
		w.works(killed.Heal(ctx))
		result := w.Provider(openai).Calls(match("a"))[0].Output
		resolved, err := w.Operator().Resolve(ctx, job.ID, 1, target.Resolution{
			Outcome: "succeeded", Result: []byte(result), Evidence: "the provider's log", Reason: "its worker died"})
		w.expect(err).NotTo(HaveOccurred())
		w.expect(resolved.State).To(Equal("succeeded"))
		w.expect(w.Provider(openai).Calls(anyCall)).To(HaveLen(1), "nobody was asked a second time")
	}, SpecTimeout(toPlay))
})
