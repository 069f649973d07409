package scenarios

import (
	"context"
	"net/http"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/interlock-harness/interlock/harness/invariant"
	"github.com/interlock-harness/interlock/harness/stage"
	"github.com/interlock-harness/interlock/harness/target"
)

var lostRequestRetry = Info{
	Number: 5, Slug: "lost-request-retry", Title: "a click that never arrived, clicked again", Group: Submit, Level: 0,
	Fault:  "the connection is cut before the first byte of the request arrives",
	Expect: invariant.Expect{Invariants: []invariant.ID{"I1", "I8"}, Faults: []string{"lost-request"}},
}

var _ = Describe(lostRequestRetry.text(), about(lostRequestRetry), func() {
	It("makes the job at the second click", func(ctx SpecContext) {
		w := begin(ctx)
		cut, err := w.LostRequest(ctx)
		w.works(err)
		client, intent := w.Client("client-1"), w.longIntent("a")

		By("losing the whole first click")
		_, err = client.Through(cut.URL()).Submit(ctx, w.Key("a"), intent)
		w.expect(target.IsUnknown(err)).To(BeTrue(), "the client sees the same as with a lost answer: %v", err)
		w.arrives(awaits(ctx, cut))

		By("clicking again, once only half of the body arrives, then whole")
		half, err := w.CutRequest(ctx, pastHeaders)
		w.works(err)
		_, err = client.Through(half.URL()).Submit(ctx, w.Key("a"), intent)
		w.expect(target.IsUnknown(err)).To(BeTrue(), "half a click is no click: %v", err)
		w.arrives(awaits(ctx, half))
		w.timeToStore(ctx, w.Owner(1).Owner)
		job, err := client.Submit(ctx, w.Key("a"), intent)
		w.expect(err).NotTo(HaveOccurred())
		w.expect(job.Answer.Status).To(Equal(http.StatusCreated), "nothing was stored before")
		_, err = w.Status(within(ctx, toComplete), client, job.ID, "succeeded")
		w.expect(err).NotTo(HaveOccurred())
	}, SpecTimeout(toPlay))
})

// pastHeaders is more bytes than the headers of a submit, and fewer than the whole
// of one with a longIntent.
const pastHeaders = 1000

// longIntent is an intent whose body goes on well past pastHeaders.
func (w *World) longIntent(name string) target.Intent {
	GinkgoHelper()
	i := w.Intent(name)
	input, ok := i.Input.(map[string]any)
	w.expect(ok).To(BeTrue(), "the input of the stage's intent is an object")
	text, _ := input["text"].(string)
	i.Input = map[string]any{"text": text + strings.Repeat(" The printer is still out of paper.", 60)}
	return i
}

// timeToStore gives a careless service the time to store what it should not, so
// that what follows meets it.
func (w *World) timeToStore(ctx SpecContext, owner string) {
	_ = stage.Until(within(ctx, toStayPut), "a row of "+owner, func(ctx context.Context) (bool, error) {
		n, err := w.Rows().Count(ctx, `SELECT count(*) FROM jobs WHERE owner = $1`, owner)
		return n > 0, err
	})
}
