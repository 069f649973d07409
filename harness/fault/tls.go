package fault

import (
	"context"
	"errors"

	"github.com/interlock-harness/interlock/harness/edge"
	"github.com/interlock-harness/interlock/harness/history"
)

// OnTLS is a TLS listener with a flaw, in front of a provider.
type OnTLS struct {
	*state
	listener *edge.TLS
}

// FlawedTLS starts a TLS listener with a flaw in front of a provider at upstream. It fires
// when a handshake fails for it. Heal mends the listener, which stays at its
// address until Close.
func FlawedTLS(rec *history.Recorder, provider, upstream string, flaw edge.Flaw) (*OnTLS, error) {
	if flaw == edge.Flawless {
		return nil, errors.New("a TLS listener without a flaw is no fault")
	}
	f := &OnTLS{}
	ready := make(chan struct{})
	listener, err := edge.NewTLS(upstream, flaw, func(evidence string) {
		<-ready
		f.fire(evidence)
	})
	if err != nil {
		return nil, err
	}
	f.listener = listener
	f.state = armed(rec, "tls-flaw", history.FaultFacts{Edge: WorkerProvider, Detail: "the provider's TLS is " + string(flaw), Unproven: provider})
	close(ready)
	return f, nil
}

// URL is the HTTPS base URL of the listener.
func (f *OnTLS) URL() string { return f.listener.URL() }

// Authority is the certificate, in PEM, that the service must trust.
func (f *OnTLS) Authority() []byte { return f.listener.Authority }

// Heal gives the listener a good certificate.
func (f *OnTLS) Heal(context.Context) error {
	f.listener.Set(edge.Flawless)
	f.heal()
	return nil
}

// Close ends the listener.
func (f *OnTLS) Close() { f.listener.Close() }
