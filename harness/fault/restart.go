package fault

import (
	"context"

	"github.com/interlock-harness/interlock/harness/history"
)

// Server is what a fault needs of a PostgreSQL server.
type Server interface {
	Crash(context.Context) error
	Resume(context.Context) error
	Addr() string
}

// Crashed is a PostgreSQL server that was stopped at once.
type Crashed struct {
	*state
	server Server
}

// Crash stops the server the way PostgreSQL calls immediate: every connection
// is cut, nothing is flushed. Heal starts it again, which recovers from the
// write-ahead log.
func Crash(ctx context.Context, rec *history.Recorder, s Server) (*Crashed, error) {
	ctx, cancel := context.WithTimeout(ctx, toHeal)
	defer cancel()
	f := &Crashed{state: arm(rec, "postgres-crash", APIPostgres, "PostgreSQL is stopped at once"), server: s}
	if err := s.Crash(ctx); err != nil {
		f.heal()
		return nil, err
	}
	f.fire("the server at " + s.Addr() + " has ended")
	return f, nil
}

// Heal implements Fault.
func (f *Crashed) Heal(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, toHeal)
	defer cancel()
	if err := f.server.Resume(ctx); err != nil {
		return err
	}
	f.heal()
	return nil
}
