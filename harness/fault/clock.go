package fault

import (
	"context"
	"fmt"
	"time"

	"github.com/interlock-harness/interlock/harness/history"
)

// ClockSchema is what must be run in a database, by its owner, before the
// service migrates it, so that its clock can be set: functions of the names of
// PostgreSQL's own, found first, which add what the table skew says. What calls
// CURRENT_TIMESTAMP, which is no function, is not fooled.
const ClockSchema = `
	CREATE SCHEMA interlock_clock;
	CREATE TABLE interlock_clock.skew (by interval NOT NULL);
	INSERT INTO interlock_clock.skew VALUES ('0');
	CREATE FUNCTION interlock_clock.clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE
		AS 'SELECT pg_catalog.clock_timestamp() + (SELECT by FROM interlock_clock.skew)';
	CREATE FUNCTION interlock_clock.statement_timestamp() RETURNS timestamptz LANGUAGE sql STABLE
		AS 'SELECT pg_catalog.statement_timestamp() + (SELECT by FROM interlock_clock.skew)';
	CREATE FUNCTION interlock_clock.now() RETURNS timestamptz LANGUAGE sql STABLE
		AS 'SELECT pg_catalog.now() + (SELECT by FROM interlock_clock.skew)';
	GRANT USAGE ON SCHEMA interlock_clock TO PUBLIC;
	GRANT SELECT ON interlock_clock.skew TO PUBLIC;
	DO $$ BEGIN
		EXECUTE format('ALTER DATABASE %I SET search_path = public, interlock_clock, pg_catalog', current_database());
	END $$`

// Jumped is a database clock that was set.
type Jumped struct {
	*state
	url string
}

// JumpClock sets the clock of the database forward, or back when by is
// negative (level L4). The database must have been made with ClockSchema.
func JumpClock(ctx context.Context, rec *history.Recorder, url string, by time.Duration) (*Jumped, error) {
	before, after, err := setClock(ctx, url, by)
	if err != nil {
		return nil, fmt.Errorf("set the database's clock: %w", err)
	}
	f := &Jumped{state: arm(rec, "clock-jump", APIPostgres, "the database's clock jumps by "+by.String()), url: url}
	f.fire(fmt.Sprintf("it said %s, then %s", before.UTC().Format(time.RFC3339), after.UTC().Format(time.RFC3339)))
	return f, nil
}

// setClock returns what the clock said before and afterwards.
func setClock(ctx context.Context, url string, by time.Duration) (before, after time.Time, err error) {
	ctx, cancel := context.WithTimeout(ctx, toControl)
	defer cancel()
	conn, err := connect(ctx, url)
	if err != nil {
		return before, after, err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	if err = conn.QueryRow(ctx, "SELECT interlock_clock.clock_timestamp()").Scan(&before); err != nil {
		return before, after, err
	}
	if _, err = conn.Exec(ctx, "UPDATE interlock_clock.skew SET by = make_interval(secs => $1)", by.Seconds()); err != nil {
		return before, after, err
	}
	err = conn.QueryRow(ctx, "SELECT clock_timestamp()").Scan(&after) // as the service calls it
	if err == nil && (by > 0 && after.Sub(before) < by || by < 0 && after.Sub(before) > by/2) {
		err = fmt.Errorf("it said %s before and %s afterwards: the service would not notice", before, after)
	}
	return before, after, err
}

// Heal sets the clock right.
func (f *Jumped) Heal(ctx context.Context) error {
	if !f.heal() {
		return nil
	}
	_, _, err := setClock(ctx, f.url, 0)
	return err
}
