package job

import (
	"encoding/json"
	"time"
)

// Submission is one submit as it came in: who, which key, what.
type Submission struct {
	Owner       Owner
	Key         Key
	Intent      Intent
	Fingerprint Fingerprint
	Raw         []byte // the body as received, stored as it is
}

// Fingerprint is the digest of an input and the number of the algorithm that
// made it. Fingerprints of two algorithms never compare equal.
type Fingerprint struct {
	Algorithm int
	Sum       [32]byte
}

// Submitted is what a submit gave: a new job, or with Replayed the one that the
// key names already. Attempt is the job's newest attempt.
type Submitted struct {
	Job      Job
	Attempt  AttemptID
	Replayed bool
}

// Match is the caller's If-Match: the version, and where Event is not 0 the
// newest event too, at which it read the job.
type Match struct {
	Version int64
	Event   int64
}

// Start asks for a new attempt. TriggerKey has its own scope (job, trigger
// key). The order of the checks is: trigger key, Match, state of the job, Allow.
type Start struct {
	Owner       Owner
	Job         ID
	Provider    string // empty: the intent's
	TriggerKey  Key
	Fingerprint Fingerprint
	Match       *Match // nil: no condition
	Actor       string
	// Allow says whether the job may go on at provider; its error, a
	// *NotCertifiedError, is passed on. Nil allows.
	Allow func(intent Intent, provider string) error
}

// Started is what a start gave: a new attempt, or with Replayed the one that
// the trigger key names already.
type Started struct {
	Attempt  Attempt
	Replayed bool
}

// Act is who does something to a job or an attempt, and why.
type Act struct {
	Owner  Owner
	Actor  string
	Reason string
	Match  *Match // nil: no condition
}

// Resolution is what an operator, or the reconciler that asked the provider,
// knows of an attempt that is not known here.
type Resolution struct {
	Outcome  State           // StateSucceeded or StateFailed
	Result   json.RawMessage // for StateSucceeded: judged by the contract before
	Evidence string          // where the knowledge comes from
}

// Page asks for one page of an owner's jobs, newest first.
type Page struct {
	Status Status // empty: every status
	After  ID     // the last job of the page before; empty: from the newest
	Limit  int
}

// Event is one line of a job's history, in the order of ID.
type Event struct {
	ID      int64
	At      time.Time
	JobID   ID
	Attempt AttemptID // empty: about the job itself
	N       int
	Type    string // job.submitted, job.succeeded, job.cancelled, attempt.moved, failover.denied
	From    State
	To      State
	Actor   string
	Reason  string
}

// Race records a late result: who was late, who won, and the payload's digest.
// The payload itself is nowhere kept.
type Race struct {
	ID            int64
	At            time.Time
	JobID         ID
	Attempt       AttemptID
	N             int
	Winner        AttemptID // empty: the job was cancelled, or has no winner yet
	Reason        string
	PayloadSHA256 [32]byte
	PayloadBytes  int64
}

// Pulse is what a waiter needs to know of a job: its ETag and whether it ended.
type Pulse struct {
	Version int64
	Event   int64
	Status  Status
}
