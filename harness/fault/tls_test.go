package fault_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"strings"
	"testing"

	"github.com/interlock-harness/interlock/harness/edge"
	"github.com/interlock-harness/interlock/harness/fault"
	"github.com/interlock-harness/interlock/harness/history"
)

func TestFlawedTLSKeepsCarefulClientsOutUntilItIsMended(t *testing.T) {
	for _, flaw := range []edge.Flaw{edge.Expired, edge.WrongName, edge.Untrusted, edge.Silent} {
		t.Run(string(flaw), func(t *testing.T) {
			p, ctx, rec := newProvider(t), bounded(t), history.New()
			f, err := fault.FlawedTLS(rec, "p", p.Listener.Addr().String(), flaw)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			roots := x509.NewCertPool()
			if !roots.AppendCertsFromPEM(f.Authority()) {
				t.Fatal("the authority is no certificate")
			}
			call, cancel := context.WithCancel(ctx)
			if flaw == edge.Silent {
				go func() { // it gives up when the handshake stalls for sure
					_ = f.Await(ctx)
					cancel()
				}()
			}
			if err := postTLS(call, f.URL(), roots); err == nil {
				t.Error("the client took it")
			}
			cancel()
			if err := f.Await(ctx); err != nil {
				t.Error(err)
			}
			if n := p.executed.Load(); n != 0 {
				t.Errorf("executed %d times, want 0", n)
			}
			if err := f.Heal(ctx); err != nil {
				t.Error(err)
			}
			if err := postTLS(ctx, f.URL(), roots); err != nil || p.executed.Load() != 1 {
				t.Errorf("after healing: executed %d times, %v", p.executed.Load(), err)
			}
			lived(t, rec, "tls-flaw", true)
		})
	}
}

func postTLS(ctx context.Context, url string, roots *x509.CertPool) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader("body"))
	if err != nil {
		return err
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{RootCAs: roots}}}
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}
