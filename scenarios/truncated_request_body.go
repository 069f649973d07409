package scenarios

import (
	"net/http"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/interlock-harness/interlock/harness/invariant"
	"github.com/interlock-harness/interlock/harness/target"
)

var truncatedRequestBody = Info{
	Number: 15, Slug: "truncated-request-body", Title: "a click of which half arrives", Group: Submit, Level: 0,
	Fault:  "the connection is cut inside the body of the request, in the middle of its text",
	Expect: invariant.Expect{Invariants: []invariant.ID{"I1", "I8"}, Faults: []string{"cut-request"}},
}

var _ = Describe(truncatedRequestBody.text(), about(truncatedRequestBody), func() {
	It("makes nothing of half a body, and the job of the whole one", func(ctx SpecContext) {
		w := begin(ctx)
		client, intent := w.Client("client-1"), w.longIntent("a")
		half, err := w.CutRequest(ctx, pastHeaders)
		w.works(err)
		before := w.handled(ctx)
		_, err = client.Through(half.URL()).Submit(ctx, w.Key("a"), intent)
		w.expect(target.IsUnknown(err)).To(BeTrue(), "the client cannot know: %v", err)
		w.arrives(awaits(ctx, half))
		w.isDoneWith(ctx, 1, before)

		By("clicking again, with the whole body")
		job, err := client.Submit(ctx, w.Key("a"), intent)
		w.expect(err).NotTo(HaveOccurred())
		w.expect(job.Answer.Status).To(Equal(http.StatusCreated), "nothing was stored before")
		w.finishes(ctx, client, job.ID)
		w.expectCalls(openai, anyCall, 1)
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
