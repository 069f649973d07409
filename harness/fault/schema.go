package fault

import (
	"context"
	"fmt"

	"github.com/interlock-harness/interlock/harness/history"
)

// Grown is a schema with columns of a version that does not run yet.
type Grown struct {
	*state
	url string
}

// growth is what a careful migration of a later version would do: columns that
// have a default, which a running version knows nothing of. Each is a transaction of
// its own: one that held a table and wanted the other would be in a deadlock with a
// transaction of the service that came the other way.
var growth = []string{
	"ALTER TABLE jobs     ADD COLUMN interlock_later text NOT NULL DEFAULT 'later'",
	"ALTER TABLE attempts ADD COLUMN interlock_later bigint NOT NULL DEFAULT 7",
}

// GrowSchema adds columns to the tables while the service works on them.
func GrowSchema(ctx context.Context, rec *history.Recorder, url string) (*Grown, error) {
	f := &Grown{state: arm(rec, "schema-grows", APIPostgres, "jobs and attempts get a column each"), url: url}
	if err := run(ctx, url, growth...); err != nil {
		_ = f.Heal(context.WithoutCancel(ctx)) // one table may have grown
		return nil, fmt.Errorf("grow the schema: %w", err)
	}
	f.fire("ALTER TABLE was done")
	return f, nil
}

// Heal takes the columns away.
func (f *Grown) Heal(ctx context.Context) error {
	if !f.heal() {
		return nil
	}
	return run(ctx, f.url,
		"ALTER TABLE jobs     DROP COLUMN IF EXISTS interlock_later",
		"ALTER TABLE attempts DROP COLUMN IF EXISTS interlock_later")
}

// run runs statements on a connection of their own, each in its own transaction.
func run(ctx context.Context, url string, statements ...string) error {
	ctx, cancel := context.WithTimeout(ctx, toControl)
	defer cancel()
	conn, err := connect(ctx, url)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	for _, statement := range statements {
		if _, err := conn.Exec(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}
