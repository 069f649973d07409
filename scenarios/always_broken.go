package scenarios

import (
	"crypto/rand"
	"fmt"
	"net"
	"net/http"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/interlock-harness/interlock/harness/invariant"
)

var alwaysBroken = Info{
	Number: 69, Slug: "always-broken", Title: "a canary: a service that makes a new job of every click", Group: Canary, Level: 0,
	Fault:     "the target is a stub that ignores the idempotency key",
	Expect:    invariant.Expect{Invariants: []invariant.ID{"I1"}, Verdict: invariant.Violation},
	MustBreak: "I1",
}

var _ = Describe(alwaysBroken.text(), about(alwaysBroken), func() {
	It("is a violation of one job per key", func(ctx SpecContext) {
		w := begin(ctx)
		client := w.Client("client-1").Through(keylessService(ctx))
		for range 2 {
			_, err := client.Submit(ctx, w.Key("a"), w.Intent("a"))
			w.expect(err).NotTo(HaveOccurred())
		}
	}, SpecTimeout(toPlay))
})

// keylessService answers every submit with a new job.
func keylessService(SpecContext) string {
	GinkgoHelper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	Expect(err).NotTo(HaveOccurred())
	server := &http.Server{ReadHeaderTimeout: time.Second, Handler: http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Content-Type", "application/json")
		rw.WriteHeader(http.StatusCreated)
		_, _ = fmt.Fprintf(rw, `{"id":"job-%s","key":%q,"status":"starting","version":1,"attempts":1}`, rand.Text()[:8], r.Header.Get("Idempotency-Key"))
	})}
	go func() { _ = server.Serve(listener) }()
	DeferCleanup(server.Close)
	return "http://" + listener.Addr().String()
}
