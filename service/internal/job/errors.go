package job

import (
	"errors"
	"fmt"
	"time"
)

// Conditions that callers test for.
var (
	ErrNotFound        = errors.New("no such job or attempt for this owner")
	ErrLate            = errors.New("the job moved or was finished first")
	ErrTerminal        = errors.New("the job is finished")
	ErrAttemptTerminal = errors.New("the attempt is finished")
	ErrNotReleasable   = errors.New("only an unknown attempt can be released")
	ErrNotUnknown      = errors.New("only an unknown or released attempt can be resolved")
	ErrPurged          = errors.New("the job of this key was purged")
	ErrAttemptsSpent   = errors.New("the job has used up its attempts")
	// ErrUnavailable: the store could not be reached, and either all or nothing
	// was stored. The caller repeats the call with the same key.
	ErrUnavailable = errors.New("the store is unavailable")
)

// KeyConflictError: the key was used before for another input.
type KeyConflictError struct {
	JobID ID
}

func (e *KeyConflictError) Error() string {
	return fmt.Sprintf("the idempotency key belongs to job %s with another input", e.JobID)
}

// InFlightError: an open attempt keeps a new one from starting.
type InFlightError struct {
	Attempt AttemptID
	State   State
	Since   time.Time
}

func (e *InFlightError) Error() string {
	return fmt.Sprintf("attempt %s is %s since %s", e.Attempt, e.State, e.Since.Format(time.RFC3339))
}

// VersionError: the caller's If-Match is stale.
type VersionError struct {
	Have int64
}

func (e *VersionError) Error() string {
	return fmt.Sprintf("the job is at version %d", e.Have)
}

// NotCertifiedError: the gate refuses this provider; Reasons are the gate's.
type NotCertifiedError struct {
	Provider string
	Reasons  []string
}

func (e *NotCertifiedError) Error() string {
	return fmt.Sprintf("provider %s is not certified: %v", e.Provider, e.Reasons)
}
