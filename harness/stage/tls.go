package stage

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/interlock-harness/interlock/harness/fault"
)

// placeTLS puts the TLS listeners of a service in front of its providers and
// makes it trust their authorities, and nobody else's.
func (w *World) placeTLS(o *ServiceOptions) error {
	if len(o.TLS) == 0 {
		return nil
	}
	w.tls, o.routes = map[string]*fault.OnTLS{}, map[string]string{}
	var trusted []byte
	for name, flaw := range o.TLS {
		in := w.stage.stands[name]
		if in == nil {
			return fmt.Errorf("%w: %s", errNoSuchProvider, name)
		}
		f, err := fault.FlawedTLS(w.Recorder, name, in.edge.Addr(), flaw)
		if err != nil {
			return err
		}
		w.Add(f)
		w.tls[name], o.routes[name] = f, f.URL()
		trusted = append(trusted, f.Authority()...)
	}
	file := w.authorities()
	if err := os.WriteFile(file, trusted, 0o600); err != nil {
		return err
	}
	o.Env = append(append([]string(nil), o.Env...), "SSL_CERT_FILE="+file, "SSL_CERT_DIR="+filepath.Join(w.stage.config.Dir, "none"))
	return nil
}

// authorities is the file of those whom the world's own service trusts.
func (w *World) authorities() string {
	return filepath.Join(w.stage.config.Dir, "authorities-"+w.token+".pem")
}

// TLS is the flawed listener in front of a provider, where ServiceOptions.TLS
// asked for one.
func (w *World) TLS(provider string) *fault.OnTLS { return w.tls[provider] }

// JumpClock sets the clock of the database of a service with
// ServiceOptions.Clock.
func (w *World) JumpClock(ctx context.Context, by time.Duration) (*fault.Jumped, error) {
	f, err := fault.JumpClock(ctx, w.Recorder, w.Service.PGURL(), by)
	return keep(w, f, err)
}
