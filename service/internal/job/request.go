package job

import (
	"encoding/json"
	"time"
)

// AnyOwner is the scope of operators and of the service itself: look-ups by id
// find jobs of all owners. No credential may carry it as its name.
const AnyOwner Owner = "*"

// Submission is one intent as an owner sent it.
type Submission struct {
	Owner                Owner
	Key                  Key
	Fingerprint          [32]byte
	FingerprintAlgorithm int16
	RawBody              []byte // the request body as it arrived
	Intent               Intent
}

// Start asks for one more attempt of a job.
type Start struct {
	Owner    Owner
	Job      ID
	Provider string // empty: the provider that the job was submitted for
	// TriggerKey is the idempotency key of the click. The same key with the same
	// TriggerFingerprint gives the same attempt again; it is looked up before
	// Match, state and gate.
	TriggerKey         Key
	TriggerFingerprint [32]byte
	Match              *Match // what the caller has seen of the job; nil: any
	Actor              string
}

// Match is the caller's If-Match: the version, and where Event is not 0 the
// newest event too, at which it read the job.
type Match struct {
	Version int64
	Event   int64
}

// Pulse is what a waiter needs to know of a job: its ETag and whether it ended.
type Pulse struct {
	Version int64
	Event   int64
	Status  Status
}

// Move is a verb on a job (N is 0: cancel) or on attempt N of it.
type Move struct {
	Owner  Owner // AnyOwner for one who may reach the jobs of all owners
	Job    ID
	N      int
	Match  *Match // what the caller has seen of the job; nil: any
	Actor  string
	Reason string
}

// Resolution says how an unknown or released attempt ended, with evidence.
type Resolution struct {
	Move
	Outcome  Outcome
	Result   json.RawMessage // judged by the contract before; for OutcomeSucceeded only
	Evidence string          // where the outcome was read
	Ref      string          // the provider's id of the work, where it was asked
	Status   string          // what the provider says of it, in its words
}

// Outcome of a resolution.
type Outcome string

const (
	OutcomeSucceeded Outcome = "succeeded"
	OutcomeFailed    Outcome = "failed"
)

// Filter narrows a list of jobs, newest first.
type Filter struct {
	Status Status // empty: all
	After  ID     // the last job of the page before; empty: from the newest
	Limit  int
}

// RaceFilter narrows a list of late results, newest first.
type RaceFilter struct {
	Job   ID    // empty: all jobs of the owner
	After int64 // number of the last race of the page before; 0: from the newest
	Limit int
}

// Settlement is what a worker or the reconciler says about an attempt that it
// holds. Fence and Version are those of the claim.
type Settlement struct {
	Job     ID
	Attempt AttemptID
	Fence   int64
	Version int64 // of the job as it was claimed; for Complete
	Actor   string
	Reason  string
	Failure Failure  // for Fail
	Denied  []string // for Fail: the gate's reasons, when it refused the call at the last moment
}

// Failure is a definite failure: nothing was sent, the provider refused, or its
// answer was finished and is unusable.
type Failure struct {
	Class      Class
	RetryAfter time.Duration // the provider asked to wait that long; 0: it did not say
}

// Class is the outcome class of a provider call.
type Class string

const (
	// ClassNotSent: no byte of the request can have left. Definite.
	ClassNotSent Class = "not_sent"
	// ClassRefused: refused before execution. Definite.
	ClassRefused Class = "refused"
	// ClassRejected: finished, and the contract rejects the output. Definite.
	ClassRejected Class = "rejected"
	// ClassResolved: an operator or the reconciler brought evidence of failure. Definite.
	ClassResolved Class = "resolved"
	// ClassDeadline: the soft deadline of a job that asked for a race passed. Not
	// a failure: the attempt goes on as a contender.
	ClassDeadline Class = "deadline"
)

// Decision is what the failover policy says after a definite failure, or after
// the soft deadline of a job that races.
type Decision struct {
	Provider string        // where the next attempt goes; empty: none follows
	Wait     time.Duration // it is not claimed before that
	Reason   string        // why this one, or why none follows
	Denied   []Denial      // providers that the gate refused on the way
}

// Denial is a refusal of the gate.
type Denial struct {
	Provider string   `json:"provider"`
	Reasons  []string `json:"reasons"`
}

// Claimed is an attempt that a worker holds, with what it needs for the call.
type Claimed struct {
	Attempt    Attempt
	Job        Job           // Status, Attempts and LastEvent are not filled
	Deadline   time.Duration // soft deadline from the claim on
	LeaseUntil time.Time
}
