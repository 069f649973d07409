package history

import (
	"encoding/json"
	"time"
)

// Job is a job as an answer of the target or as a row of the table jobs shows
// it. Fields that one of the two does not have are zero.
type Job struct {
	ID          string          `json:"id"`
	Owner       string          `json:"owner,omitempty"` // rows only
	Key         string          `json:"key,omitempty"`
	Fingerprint string          `json:"fingerprint,omitempty"` // rows only, hex
	Status      string          `json:"status,omitempty"`      // answers only
	Version     int64           `json:"version,omitempty"`
	Contract    string          `json:"contract,omitempty"`
	Provider    string          `json:"provider,omitempty"`
	Race        bool            `json:"race,omitempty"`
	Result      json.RawMessage `json:"result,omitempty"`
	CompletedBy string          `json:"completed_by,omitempty"`
	CompletedAt string          `json:"completed_at,omitempty"`
	CancelledAt string          `json:"cancelled_at,omitempty"`
	// Xmin is the id of the transaction that wrote the row version, where read.
	Xmin string `json:"xmin,omitempty"`
	// Replayed is true when the answer said Idempotency-Replayed: true.
	Replayed bool `json:"replayed,omitempty"`
	// Replica names the process that answered, where known.
	Replica string `json:"replica,omitempty"`
	// Absent marks a row that was looked for by id and is not there.
	Absent bool `json:"absent,omitempty"`
}

// Attempt is an attempt as an answer or a row of the table attempts shows it.
type Attempt struct {
	ID       string `json:"id"`
	JobID    string `json:"job_id,omitempty"`
	N        int    `json:"n,omitempty"`
	Provider string `json:"provider,omitempty"`
	State    string `json:"state,omitempty"`
	Reason   string `json:"reason,omitempty"`
	Xmin     string `json:"xmin,omitempty"`
	Replayed bool   `json:"replayed,omitempty"`
	Absent   bool   `json:"absent,omitempty"`
}

// Move is an event of a job as an answer ("from", "to") or a row of the table
// attempt_events ("from_state", "to_state") shows it. ID orders moves of a job.
type Move struct {
	ID        int64  `json:"id"`
	JobID     string `json:"job_id,omitempty"`
	AttemptID string `json:"attempt_id,omitempty"`
	Type      string `json:"type,omitempty"`
	From      string `json:"from,omitempty"`
	To        string `json:"to,omitempty"`
	FromState string `json:"from_state,omitempty"`
	ToState   string `json:"to_state,omitempty"`
	Actor     string `json:"actor,omitempty"`
	Reason    string `json:"reason,omitempty"`
	// At is when it happened by the clock of the database (RFC 3339); for
	// pictures only, no verdict rests on it.
	At string `json:"at,omitempty"`
}

// Race is the record of one late result.
type Race struct {
	ID            int64  `json:"id"`
	JobID         string `json:"job_id,omitempty"`
	AttemptID     string `json:"attempt_id,omitempty"`
	WinnerID      string `json:"winner_id,omitempty"`
	Reason        string `json:"reason,omitempty"`
	PayloadSHA256 string `json:"payload_sha256,omitempty"`
	PayloadBytes  int64  `json:"payload_bytes,omitempty"`
}

// Problem is the body of a refusal (RFC 9457) as far as invariants read it.
type Problem struct {
	Type          string `json:"type,omitempty"`
	Detail        string `json:"detail,omitempty"`
	JobID         string `json:"job_id,omitempty"`
	AttemptID     string `json:"attempt_id,omitempty"`
	State         string `json:"state,omitempty"`
	Indeterminate bool   `json:"indeterminate,omitempty"`
}

// SubmitFacts is the data of an invoked submit: the intent as the client means
// it (the value, not its bytes on the wire).
type SubmitFacts struct {
	Intent json.RawMessage `json:"intent"`
}

// RequestFacts is the data of any other invoked operation.
type RequestFacts struct {
	N        int    `json:"n,omitempty"` // number of the attempt, where its id is not known
	Reason   string `json:"reason,omitempty"`
	Provider string `json:"provider,omitempty"` // start
	Outcome  string `json:"outcome,omitempty"`  // resolve
	Trigger  string `json:"trigger_key,omitempty"`
	From     string `json:"from,omitempty"`    // edge: the state the attempt (or job) is in
	To       string `json:"to,omitempty"`      // edge: the state it is forced to
	Machine  string `json:"machine,omitempty"` // edge: job, or empty for an attempt
}

// ErrorFacts is the data of an operation whose outcome is not known.
type ErrorFacts struct {
	Error string `json:"error,omitempty"`
}

// ArriveFacts is the data of a provider call that arrived.
type ArriveFacts struct {
	Provider string `json:"provider"`
	Contract string `json:"contract,omitempty"`
}

// AnswerFacts is the data of what a stand-in did with a call.
type AnswerFacts struct {
	Provider string `json:"provider,omitempty"`
	Status   int    `json:"status,omitempty"` // HTTP status, 0 for none
	// Verdict is what a right reader makes of this answer: accept, reject
	// (terminal, but no result), refused (definitely not executed) or unknown
	// (cut, stalled, unlisted). Empty: the script does not say.
	Verdict string `json:"verdict,omitempty"`
	// RetryAfterMS is how long the answer asks to be left alone, 0 where it does not.
	RetryAfterMS int64 `json:"retry_after_ms,omitempty"`
	// Complete is true when the whole answer left, its end marker included.
	Complete bool `json:"complete"`
	// Output is the result that a right reader takes from an accepted answer.
	Output json.RawMessage `json:"output,omitempty"`
	// Marker is a text that occurs in this answer and nowhere else.
	Marker string `json:"marker,omitempty"`
}

// Verdicts of AnswerFacts.
const (
	Accept  = "accept"
	Reject  = "reject"
	Refused = "refused"
	Unknown = "unknown"
)

// FaultFacts is the data of an armed, fired or healed fault.
type FaultFacts struct {
	Edge     string `json:"edge,omitempty"`     // client-api, api-postgres, worker-provider, process
	Detail   string `json:"detail,omitempty"`   // one line a person understands
	Evidence string `json:"evidence,omitempty"` // fired: how it is known
	// Unproven names the provider that cannot prove who it is while the fault acts.
	Unproven string `json:"unproven,omitempty"`
	// MayStayQuiet marks a fault of a random plan that need not fire.
	MayStayQuiet bool `json:"may_stay_quiet,omitempty"`
}

// ProbeFacts is the data of a declared or reached probe.
type ProbeFacts struct {
	Evidence string `json:"evidence,omitempty"`
}

// PhaseFacts is the data of a phase; BoundMS is how long draining may take.
type PhaseFacts struct {
	BoundMS int64 `json:"bound_ms,omitempty"`
}

// Bound returns the bound as a duration.
func (p PhaseFacts) Bound() time.Duration { return time.Duration(p.BoundMS) * time.Millisecond }

// SnapshotFacts begins (Complete false) or completes one read of a table.
// Owners names whose rows were asked for; empty means all of the scenario's.
type SnapshotFacts struct {
	Complete bool     `json:"complete"`
	Rows     int      `json:"rows"`
	Owners   []string `json:"owners,omitempty"`
}

// CertifiedFacts says which certificate is in force for a provider from this
// event on. Valid false withdraws it.
type CertifiedFacts struct {
	Provider string `json:"provider"`
	Contract string `json:"contract,omitempty"`
	Valid    bool   `json:"valid"`
	Why      string `json:"why,omitempty"`
	// ForUS is how long it stays valid, in microseconds from this event; 0 means for the run.
	ForUS int64 `json:"for_us,omitempty"`
}

// ResourceFacts counts what one process (the actor of the note) holds. The first
// note of an actor is the baseline, the last one is what is left.
type ResourceFacts struct {
	Goroutines  int `json:"goroutines,omitempty"`
	Connections int `json:"connections,omitempty"`
	Locks       int `json:"locks,omitempty"`
	Files       int `json:"files,omitempty"`
	// Slack is how many more of each a healthy process may hold.
	Slack int `json:"slack,omitempty"`
}
