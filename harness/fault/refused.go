package fault

import (
	"context"
	"errors"
	"fmt"
	"net"
	"syscall"

	"github.com/interlock-harness/interlock/harness/edge"
	"github.com/interlock-harness/interlock/harness/history"
)

// ConnectionRefused closes a switch's port: whoever connects is refused.
type ConnectionRefused struct {
	*state
	sw *edge.Switch
}

// Refuse closes the port of sw. Nobody sees who tried to connect to a closed
// port: the fault counts as fired when who tried says so (see Seen).
func Refuse(ctx context.Context, rec *history.Recorder, on string, sw *edge.Switch) (*ConnectionRefused, error) {
	if err := sw.Refuse(); err != nil {
		return nil, err
	}
	f := &ConnectionRefused{state: arm(rec, "connection-refused", on, "nobody listens at "+sw.Name), sw: sw}
	if err := f.Check(ctx); err != nil {
		return nil, errors.Join(err, f.Heal(ctx))
	}
	return f, nil
}

// Check connects once itself and returns an error unless it is refused.
func (f *ConnectionRefused) Check(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, toControl)
	defer cancel()
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", f.sw.Addr())
	if err == nil {
		_ = conn.Close()
		return fmt.Errorf("%s: a connection was accepted", f.name)
	}
	if !errors.Is(err, syscall.ECONNREFUSED) {
		return fmt.Errorf("%s: the error is another: %w", f.name, err)
	}
	return nil
}

// Seen says that somebody was refused, and how that is known.
func (f *ConnectionRefused) Seen(evidence string) { f.fire(evidence) }

// Heal listens again.
func (f *ConnectionRefused) Heal(context.Context) error {
	if !f.heal() {
		return nil
	}
	return f.sw.Accept()
}
