package scenarios

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/interlock-harness/interlock/harness/fault"
	"github.com/interlock-harness/interlock/harness/invariant"
	"github.com/interlock-harness/interlock/harness/stage"
	"github.com/interlock-harness/interlock/harness/target"
)

var cancelVsComplete = Info{
	Number: 35, Slug: "cancel-vs-complete", Title: "an owner cancels while the result is being written", Group: Completion, Level: 2,
	Fault:  "the job's row is locked until both the cancel and the result wait for it, in either order",
	Expect: invariant.Expect{Invariants: []invariant.ID{"I15"}, Faults: []string{"job-row-lock"}},
}

var _ = Describe(cancelVsComplete.text(), about(cancelVsComplete), func() {
	It("stays cancelled when the cancel came first", func(ctx SpecContext) {
		w := begin(ctx)
		m := w.meeting(ctx)
		cancelled := m.cancel(ctx, w, 1)
		m.answer(ctx, w, 2)
		w.works(m.lock.Release(ctx))
		c := <-cancelled
		w.expect(c.err).NotTo(HaveOccurred())
		w.expect(c.job.Status).To(Equal("cancelled"))
		_, err := w.AttemptState(within(ctx, toComplete), m.client, m.job, 1, "lost", "succeeded")
		w.expect(err).NotTo(HaveOccurred())
		after, err := m.client.Job(ctx, m.job)
		w.expect(err).NotTo(HaveOccurred())
		w.expect(after.Status).To(Equal("cancelled"))
		w.expect(after.Version).To(BeEquivalentTo(2), "the job changed once")
	}, SpecTimeout(toPlay))

	It("stays succeeded when the result came first, and says so to the one who cancels", func(ctx SpecContext) {
		w := begin(ctx)
		w.exercises("I5")
		m := w.meeting(ctx)
		m.answer(ctx, w, 1)
		cancelled := m.cancel(ctx, w, 2)
		w.works(m.lock.Release(ctx))
		c := <-cancelled
		w.expect(c.err).To(MatchError(target.Reason("job-terminal")))
		after, err := w.Status(within(ctx, toComplete), m.client, m.job, "succeeded", "cancelled")
		w.expect(err).NotTo(HaveOccurred())
		w.expect(after.Status).To(Equal("succeeded"))
	}, SpecTimeout(toPlay))
})

// meeting is a job whose call is held, and whose row is locked.
type meeting struct {
	client *target.Client
	job    string
	gate   *stage.Gate
	lock   *fault.Lock
}

func (w *World) meeting(ctx SpecContext) *meeting {
	GinkgoHelper()
	m := &meeting{client: w.Client("client-1"), gate: w.Provider(openai).Hold(match("a"))}
	job, err := m.client.Submit(ctx, w.Key("a"), w.Intent("a"))
	w.expect(err).NotTo(HaveOccurred())
	m.job = job.ID
	w.arrives(awaits(ctx, m.gate))
	m.lock, err = w.LockJob(ctx, m.job)
	w.works(err)
	return m
}

// cancel asks for a cancel, which is the nth to wait for the row.
func (m *meeting) cancel(ctx SpecContext, w *World, n int) <-chan answer {
	GinkgoHelper()
	answers := make(chan answer, 1)
	go func() {
		job, err := m.client.CancelJob(ctx, m.job, "changed my mind")
		answers <- answer{job, err}
	}()
	_, err := m.lock.Await(within(ctx, toArrive), n)
	w.arrives(err)
	return answers
}

// answer lets the provider answer: the result is the nth to wait for the row.
func (m *meeting) answer(ctx SpecContext, w *World, n int) {
	GinkgoHelper()
	m.gate.Release()
	_, err := m.lock.Await(within(ctx, toArrive), n)
	w.arrives(err)
}
