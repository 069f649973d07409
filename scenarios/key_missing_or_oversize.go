package scenarios

import (
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/interlock-harness/interlock/harness/invariant"
	"github.com/interlock-harness/interlock/harness/target"
)

var keyMissingOrOversize = Info{
	Number: 18, Slug: "key-missing-or-oversize", Title: "keys that are none, and keys that look alike", Group: Submit, Level: 0,
	Fault:  "no key, an empty one, 10 kB, a comma, two lines, other alphabets; and keys that differ in case or in their last letter",
	Expect: invariant.Expect{Invariants: []invariant.ID{"I1", "I13"}},
}

var _ = Describe(keyMissingOrOversize.text(), about(keyMissingOrOversize), func() {
	It("refuses what is no key, and keeps apart what is not the same key", func(ctx SpecContext) {
		w := begin(ctx)
		client := w.Client("client-1")

		By("sending what is no key")
		_, err := client.Submit(ctx, "", w.Intent("none"))
		w.expect(err).To(MatchError(target.Reason("idempotency-key-missing")))
		for name, key := range map[string]string{
			"oversize": strings.Repeat("k", 10_000), "one too long": strings.Repeat("k", 256), "a comma": w.Key("a") + ",b",
			"another alphabet": w.Key("å"), "full width": w.Key("\uff41"), "half quoted": `"` + w.Key("a"), "a blank": w.Key("a") + " b",
		} {
			_, err := client.Submit(ctx, key, w.Intent("none"))
			w.expect(err).To(MatchError(target.Reason("idempotency-key-invalid")), name)
		}
		_, err = client.Submit(ctx, w.Key("twice"), w.Intent("none"), target.Header("Idempotency-Key", w.Key("other")))
		w.expect(err).To(MatchError(target.Reason("idempotency-key-invalid")), "two keys")
		w.expectCalls(openai, match("none"), 0)

		By("sending keys that a careless service would take for one")
		long := w.Key(strings.Repeat("k", 255-len(w.Key(""))-1))
		ids := map[string]string{}
		for _, key := range []string{w.Key("case"), w.Key("CASE"), long + "a", long + "b"} {
			job, err := client.Submit(ctx, key, w.Intent("alike"))
			w.expect(err).NotTo(HaveOccurred())
			w.expect(ids).NotTo(HaveKey(job.ID), "a key of its own has a job of its own")
			ids[job.ID] = key
		}
	}, SpecTimeout(toPlay))
})
