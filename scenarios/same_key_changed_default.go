package scenarios

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/interlock-harness/interlock/harness/invariant"
	"github.com/interlock-harness/interlock/harness/target"
)

var sameKeyChangedDefault = Info{
	Number: 10, Slug: "same-key-changed-default", Title: "a default left out, then written down", Group: Submit, Level: 0,
	Fault:  "a second POST carries the key of the first and states what the first left to the default, and the other way round",
	Expect: invariant.Expect{Invariants: []invariant.ID{"I2"}},
}

var _ = Describe(sameKeyChangedDefault.text(), about(sameKeyChangedDefault), func() {
	It("takes the two for different intents: a default may change between them", func(ctx SpecContext) {
		w := begin(ctx)
		client := w.Client("client-1")
		silent, explicit := w.Intent("a"), w.Intent("a")
		explicit.Failover = &target.Failover{Mode: "manual"} // which it is without a word

		for name, order := range map[string][2]target.Intent{"silent-first": {silent, explicit}, "explicit-first": {explicit, silent}} {
			first, err := client.Submit(ctx, w.Key(name), order[0])
			w.expect(err).NotTo(HaveOccurred())
			w.refuses(client.Submit(ctx, w.Key(name), order[1]))
			again, err := client.Submit(ctx, w.Key(name), order[0])
			w.expect(err).NotTo(HaveOccurred())
			w.expect(again.ID).To(Equal(first.ID), "the same spelling is the same click")
		}
	}, SpecTimeout(toPlay))
})
