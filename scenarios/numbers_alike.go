package scenarios

import (
	"bytes"
	"encoding/json"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/interlock-harness/interlock/harness/invariant"
	"github.com/interlock-harness/interlock/harness/target"
)

var numbersAlike = Info{
	Number: 76, Slug: "numbers-alike", Title: "two requests that a careless reader takes for one", Group: Submit, Level: 0,
	Fault:  "numbers that are the same as floats, a field twice, a field in capitals, a field that is misspelt",
	Expect: invariant.Expect{Invariants: []invariant.ID{"I2"}},
}

var _ = Describe(numbersAlike.text(), about(numbersAlike), func() {
	It("tells them apart, or refuses them", func(ctx SpecContext) {
		w := begin(ctx)
		client := w.Client("client-1")
		seeded := func(seed string) target.Intent {
			i := w.Intent("a")
			i.Params = map[string]any{"seed": json.Number(seed)}
			return i
		}
		first, err := client.Submit(ctx, w.Key("a"), seeded("9007199254740993"))
		w.expect(err).NotTo(HaveOccurred())
		w.refuses(client.Submit(ctx, w.Key("a"), seeded("9007199254740992")))
		again, err := client.Submit(ctx, w.Key("a"), seeded("9007199254740993"))
		w.expect(err).NotTo(HaveOccurred())
		w.expect(again.ID).To(Equal(first.ID))

		By("writing what most readers let through")
		text, err := json.Marshal(w.Intent("b"))
		w.works(err)
		for name, change := range map[string][2]string{
			"a field twice": {`"provider":`, `"provider":"nobody","provider":`}, "in capitals": {`"provider":`, `"PROVIDER":`}, "misspelt": {`"deadline_ms":`, `"deadlin_ms":`},
		} {
			body := bytes.Replace([]byte(`{"intent":`+string(text)+`}`), []byte(change[0]), []byte(change[1]), 1)
			_, err := client.SubmitBody(ctx, w.Key("b"), body, nil)
			w.expect(err).To(BeAssignableToTypeOf(&target.Refused{}), name)
		}
		_, err = client.Submit(ctx, w.Key("b"), w.Intent("b"))
		w.expect(err).NotTo(HaveOccurred(), "what was refused has not used its key up")
	}, SpecTimeout(toPlay))
})
