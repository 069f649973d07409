package fault

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/interlock-harness/interlock/harness/history"
)

// Terminated is a backend of PostgreSQL that was ended.
type Terminated struct{ *state }

// Terminate ends the backend with this process id, as an administrator would
// (pg_terminate_backend). It returns when the backend is gone. There is
// nothing to heal: the service connects again.
func Terminate(ctx context.Context, rec *history.Recorder, url string, pid int) (*Terminated, error) {
	ctx, cancel := context.WithTimeout(ctx, toControl)
	defer cancel()
	conn, err := connect(ctx, url)
	if err != nil {
		return nil, fmt.Errorf("terminate backend %d: %w", pid, err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	f := &Terminated{arm(rec, "backend-terminated", APIPostgres, fmt.Sprintf("backend %d is ended", pid))}
	var told bool
	if err := conn.QueryRow(ctx, "SELECT pg_terminate_backend($1)", pid).Scan(&told); err != nil || !told {
		f.heal()
		return nil, errors.Join(fmt.Errorf("terminate backend %d: the server did not", pid), err)
	}
	if err := gone(ctx, conn, pid); err != nil {
		f.heal()
		return nil, err
	}
	f.fire(fmt.Sprintf("backend %d is gone", pid))
	f.heal()
	return f, nil
}

func gone(ctx context.Context, conn *pgx.Conn, pid int) error {
	tick := time.NewTicker(between)
	defer tick.Stop()
	for {
		var there bool
		if err := conn.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE pid = $1)", pid).Scan(&there); err != nil {
			return fmt.Errorf("terminate backend %d: %w", pid, err)
		}
		if !there {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("backend %d is still there: %w", pid, ctx.Err())
		case <-tick.C:
		}
	}
}

// Heal implements Fault.
func (f *Terminated) Heal(context.Context) error { return nil }
