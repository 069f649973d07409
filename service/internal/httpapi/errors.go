package httpapi

import (
	"errors"
	"time"

	"github.com/interlock-harness/interlock/service/internal/job"
)

// problemOf turns any error into the refusal that the client sees. It is the
// only place that knows which status an error of the domain has. What it does
// not recognise is a plain 500; its cause goes to the log only.
func problemOf(err error) *refusal {
	var (
		refused  *refusal
		conflict *job.KeyConflictError
		inFlight *job.InFlightError
		version  *job.VersionError
		gate     *job.NotCertifiedError
	)
	switch {
	case errors.As(err, &refused):
		return refused
	case errors.As(err, &conflict):
		return &refusal{kind: keyReused, jobID: conflict.JobID,
			detail: "the key was used before with another input; a new intent needs a new key"}
	case errors.As(err, &inFlight):
		return &refusal{kind: attemptInFlight, attempt: inFlight.Attempt, state: inFlight.State,
			since: inFlight.Since, retryAfter: time.Second,
			detail: "wait for its answer, or ask an operator to release, cancel or resolve it"}
	case errors.As(err, &version):
		return &refusal{kind: versionMismatch, version: version.Have,
			detail: "read the job again and decide anew"}
	case errors.As(err, &gate):
		return &refusal{kind: notCertified, reasons: gate.Reasons,
			detail: "a valid certificate for this provider and contract is wanted"}
	}
	for _, known := range sentinels {
		if errors.Is(err, known.err) {
			return &refusal{kind: known.kind, detail: known.detail, retryAfter: known.after}
		}
	}
	return &refusal{kind: internalError, detail: "the cause is in the service's log under the request id"}
}

var sentinels = []struct {
	err    error
	kind   *problemKind
	detail string
	after  time.Duration
}{
	{job.ErrNotFound, notFound, "", 0},
	{job.ErrPurged, jobPurged, "the job was purged; the key stays used", 0},
	{job.ErrTerminal, jobTerminal, "nothing can change it any more", 0},
	{job.ErrAttemptTerminal, attemptTerminal, "nothing can change it any more", 0},
	{job.ErrNotReleasable, notReleasable, "a starting or running attempt has a worker, a finished one has an answer", 0},
	{job.ErrNotUnknown, notUnknown, "only what is not known can be resolved", 0},
	{job.ErrUnavailable, storeUnavailable, "all or nothing was stored: repeat the request with the same key", time.Second},
}
