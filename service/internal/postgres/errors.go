package postgres

import (
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/interlock-harness/interlock/service/internal/job"
	"github.com/interlock-harness/interlock/service/internal/mutant"
)

// errInFlight is a violation of one_open_attempt_per_job; the caller adds which
// attempt it is.
var errInFlight = errors.New("an attempt is open")

// toJob turns an error of PostgreSQL into one of the domain, by code and
// constraint name, never by text. What it does not recognise passes unchanged.
func toJob(err error) error {
	var lost *wireError
	if errors.As(err, &lost) {
		return fmt.Errorf("%w: %w", job.ErrUnavailable, err)
	}
	var pg *pgconn.PgError
	if !errors.As(err, &pg) {
		return err
	}
	switch pg.Code {
	case "23505": // unique_violation
		switch pg.ConstraintName {
		case "one_open_attempt_per_job":
			return errInFlight
		case "one_winner_per_job":
			return job.ErrLate
		}
	case "23514": // check_violation, also raised by the triggers
		switch pg.ConstraintName {
		case "finished_job_is_frozen":
			return job.ErrTerminal
		case "terminal_attempt_is_frozen":
			return job.ErrAttemptTerminal
		}
	case "55P03", "57014", "53200", "53300", "53400", "25006":
		// lock not available, cancelled, out of resources, read-only (a standby)
		return fmt.Errorf("%w: %w", job.ErrUnavailable, err)
	}
	return err
}

// wire marks an error that leaves open what the server did. An error that the
// server stated at its usual severity is not one: it rolled the transaction back.
func wire(err error) error {
	if err == nil || errors.Is(err, errRolledBack) {
		return err
	}
	var scan *scanError
	var already *wireError
	if errors.As(err, &scan) || errors.As(err, &already) {
		return err
	}
	var pg *pgconn.PgError
	if errors.As(err, &pg) && pg.Severity == "ERROR" && !strings.HasPrefix(pg.Code, "08") {
		return err
	}
	return &wireError{err}
}

// again reports whether the server rolled the transaction back for a reason
// that does not lie in it: the same transaction may simply be run again.
func (s *Store) again(err error) bool {
	var pg *pgconn.PgError
	if !errors.As(err, &pg) {
		return errors.Is(err, errRolledBack)
	}
	switch pg.Code {
	case "40001": // serialization_failure
		return !s.mutant.Is(mutant.SerializationNotRetried)
	case "40P01": // deadlock_detected
		return !s.mutant.Is(mutant.DeadlockNotRetried)
	case "23505": // another transaction took the number or the click; it is visible now
		return pg.ConstraintName == "attempts_job_n" || pg.ConstraintName == "attempts_trigger_key"
	}
	return false
}
