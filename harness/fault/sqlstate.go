package fault

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/interlock-harness/interlock/harness/history"
)

// Failing makes PostgreSQL itself fail some statements with an error of its
// choice, such as 40001 (serialization failure).
type Failing struct {
	*state
	url    string
	table  string
	object string // trigger, function and sequence have this name
}

// FailStatement makes the next times statements fail that insert into or
// update table (event INSERT or UPDATE) a row for which condition holds, an
// expression over NEW. The error has code sqlstate. A trigger does it, so the
// user of url must own the table.
func FailStatement(ctx context.Context, rec *history.Recorder, url, event, table, condition, sqlstate string, times int) (*Failing, error) {
	f := &Failing{url: url, table: pgx.Identifier{table}.Sanitize(), object: fmt.Sprintf("interlock_fault_%d", rec.NextCall())}
	// What a sequence counts stays counted when the transaction fails.
	err := f.exec(ctx, fmt.Sprintf(`
		CREATE SEQUENCE %[1]s;
		CREATE FUNCTION %[1]s() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
		BEGIN
			IF nextval('%[1]s') <= %[2]d THEN
				RAISE EXCEPTION 'made to fail' USING ERRCODE = '%[3]s';
			END IF;
			RETURN NEW;
		END $$;
		CREATE TRIGGER %[1]s BEFORE %[4]s ON %[5]s FOR EACH ROW WHEN (%[6]s) EXECUTE FUNCTION %[1]s()`,
		f.object, times, sqlstate, event, f.table, condition))
	if err != nil {
		return nil, fmt.Errorf("make statements fail: %w", err)
	}
	f.state = arm(rec, "statement-fails", APIPostgres, fmt.Sprintf("%d times %s on %s fails with %s", times, event, table, sqlstate))
	return f, nil
}

func (f *Failing) exec(ctx context.Context, statement string) error {
	ctx, cancel := context.WithTimeout(ctx, toControl)
	defer cancel()
	conn, err := connect(ctx, f.url)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	_, err = conn.Exec(ctx, statement)
	return err
}

// Fired implements Fault: it asks the database.
func (f *Failing) Fired() bool {
	if !f.state.Fired() {
		f.look(context.Background())
	}
	return f.state.Fired()
}

func (f *Failing) look(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, toControl)
	defer cancel()
	conn, err := connect(ctx, f.url)
	if err != nil {
		return
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	var n int64
	var called bool
	if conn.QueryRow(ctx, "SELECT last_value, is_called FROM "+f.object).Scan(&n, &called) == nil && called {
		f.fire(fmt.Sprintf("the trigger saw %d statements", n))
	}
}

// Heal drops the trigger.
func (f *Failing) Heal(ctx context.Context) error {
	if !f.Fired() {
		f.look(ctx)
	}
	if !f.heal() {
		return nil
	}
	return f.exec(ctx, fmt.Sprintf(`
		DROP TRIGGER IF EXISTS %[1]s ON %[2]s;
		DROP FUNCTION IF EXISTS %[1]s();
		DROP SEQUENCE IF EXISTS %[1]s`, f.object, f.table))
}
