package scenarios

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/interlock-harness/interlock/harness/invariant"
	"github.com/interlock-harness/interlock/harness/target"
)

var silentClientReplay = Info{
	Number: 6, Slug: "silent-client-replay", Title: "a client library sends a click twice unseen", Group: Submit, Level: 1,
	Fault:  "a reused connection dies after the request was read, and Go's transport sends the keyed POST again by itself",
	Expect: invariant.Expect{Invariants: []invariant.ID{"I1", "I7"}, Faults: []string{"dying-connection"}},
}

var _ = Describe(silentClientReplay.text(), about(silentClientReplay), func() {
	It("makes one job and one call at the provider", func(ctx SpecContext) {
		w := begin(ctx)
		dying, err := w.DyingConnection(ctx)
		w.works(err)
		client := w.Careless("client-1").Through(dying.URL())

		By("opening the connection with a first call, then clicking on it")
		_, err = client.Raw(ctx, "GET", "/v1/providers", nil)
		w.works(err)
		job, err := client.Submit(ctx, w.Key("a"), w.Intent("a"))
		w.expect(err).NotTo(HaveOccurred(), "the client saw one answer and no fault")
		w.arrives(awaits(ctx, dying))
		w.expect(job.Replayed).To(BeTrue(), "the one answer that the client saw was that of the repetition")

		By("looking for a second job and a second call")
		_, err = w.Status(within(ctx, toComplete), w.Client("client-1"), job.ID, "succeeded")
		w.expect(err).NotTo(HaveOccurred())
		w.expect(w.Provider(openai).Calls(anyCall)).To(HaveLen(1))
		var jobs []target.Job
		jobs, err = w.Client("client-1").Jobs(ctx, w.Key("a"))
		w.expect(err).NotTo(HaveOccurred())
		w.expect(jobs).To(HaveLen(1))
	}, SpecTimeout(toPlay))
})
