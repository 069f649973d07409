// Package job holds what the service promises about jobs and attempts,
// independent of HTTP and PostgreSQL.
//
// A Job is what an owner asked for. An Attempt is one try at a provider. A job
// has at most one open attempt (starting, running or unknown) at a time, and
// exactly one attempt may write its result. The package imports the standard
// library only.
package job

import (
	"encoding/json"
	"time"
)

// ID names a job, AttemptID an attempt: UUIDv7 in their canonical form, so that
// two strings cannot be swapped unseen.
type (
	ID        string
	AttemptID string
	Owner     string // who the credential says; never a body field
	Key       string // idempotency key, unescaped, 1 to 255 visible ASCII bytes (blanks too when quoted)
)

// Intent is what an owner wants, fixed at submit.
type Intent struct {
	Contract   string          `json:"contract"`         // id@version, resolved
	Provider   string          `json:"provider"`         // first target
	Input      json.RawMessage `json:"input"`            // a JSON object that meets the contract's input schema
	Params     json.RawMessage `json:"params,omitempty"` // temperature, max_output_tokens, stream ...
	Failover   Failover        `json:"failover"`         //
	Race       bool            `json:"race,omitempty"`   // at the soft deadline release instead of unknown
	DeadlineMS int64           `json:"deadline_ms"`      // soft deadline of each attempt
}

// Failover is the owner's policy for definite failures.
type Failover struct {
	Mode      string   `json:"mode"`                // manual or automatic
	Providers []string `json:"providers,omitempty"` // in the order to try
}

// Job is one intent and its outcome. Version counts changes of the job itself
// (completed, cancelled); attempts never change it.
type Job struct {
	ID          ID
	Owner       Owner
	Key         Key
	Intent      Intent
	Version     int64
	Status      Status
	Result      json.RawMessage
	CompletedBy AttemptID
	CreatedAt   time.Time
	CompletedAt *time.Time
	CancelledAt *time.Time
	Attempts    int   // how many there are
	LastEvent   int64 // number of its newest event; with Version it makes the ETag
}

// Attempt is one try at one provider. Appended, never reused.
type Attempt struct {
	ID         AttemptID
	JobID      ID
	N          int // 1, 2, ... within the job
	Provider   string
	State      State
	Reason     string // why it is in this state, one word: deadline, lease, refused, rejected.<reason> ...
	Fence      int64  // global, rising; each settle repeats it
	TriggerKey Key    // of the click that started it; empty for the first and for failover
	StartedAt  time.Time
	Since      time.Time // when it entered State
	EndedAt    *time.Time
	RetryAt    *time.Time // the provider asked not to be called before; nil: it did not say
}
