package scenarios

import (
	"net/http"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/interlock-harness/interlock/harness/invariant"
)

var expectContinue = Info{
	Number: 17, Slug: "expect-continue", Title: "a client asks whether it may send, and is cut off", Group: Submit, Level: 0,
	Fault:  "the client goes away after it was told to go on (100 Continue): before the body, and in the middle of it",
	Expect: invariant.Expect{Invariants: []invariant.ID{"I1"}, Faults: []string{"client-gone"}},
}

var _ = Describe(expectContinue.text(), about(expectContinue), func() {
	It("keeps nothing of a click whose body did not come", func(ctx SpecContext) {
		w := begin(ctx)
		client := w.Client("client-1")
		for name, bytes := range map[string]int{"before": 0, "within": 60} {
			before := w.handled(ctx)
			calling, gone := w.ClientGone(ctx, "client-1")
			announced, err := client.Announce(calling, w.Key(name), w.Intent(name))
			w.arrives(err)
			w.works(announced.Send(bytes))
			announced.Leave()
			gone.Leave("the service had said 100 Continue")
			w.isDoneWith(ctx, 1, before)

			job, err := client.Submit(ctx, w.Key(name), w.Intent(name))
			w.expect(err).NotTo(HaveOccurred())
			w.expect(job.Answer.Status).To(Equal(http.StatusCreated), "the key was free")
		}
	}, SpecTimeout(toPlay))
})
