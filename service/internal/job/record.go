package job

import (
	"encoding/json"
	"time"
)

// EventType names what happened.
type EventType string

const (
	EventJobSubmitted   EventType = "job.submitted"
	EventJobSucceeded   EventType = "job.succeeded"
	EventJobCancelled   EventType = "job.cancelled"
	EventAttemptMoved   EventType = "attempt.moved"
	EventFailoverDenied EventType = "failover.denied"
	// EventProviderSuspected: the answer to this job showed that the provider may
	// have changed since it was certified. Nothing moves; the gate is shut for it.
	EventProviderSuspected EventType = "provider.suspected"
)

// Event is one line of a job's audit trail, written in the transaction of the
// move it tells. Within a job the numbers rise in commit order, so a reader
// that has seen number n misses nothing by asking for those after n.
type Event struct {
	ID      int64
	At      time.Time
	Job     ID
	Attempt AttemptID // empty for events of the job itself
	N       int       // of the attempt; 0 for events of the job itself
	Type    EventType
	From    State // empty when the attempt is new
	To      State
	Actor   string
	Reason  string
	Detail  json.RawMessage // evidence, or the gate's reasons; may be nil
}

// Race tells of a result that came too late: who won, who lost, and the size
// and hash of the dropped payload, never the payload. An attempt has at most one.
type Race struct {
	ID            int64
	At            time.Time
	Job           ID
	Attempt       AttemptID
	N             int
	Winner        AttemptID // empty when nobody won (the job or the attempt was cancelled)
	Reason        string
	PayloadSHA256 [32]byte
	PayloadBytes  int64
	StartedAt     time.Time // of the attempt that lost
}

// Role of a credential.
type Role string

const (
	RoleOwner    Role = "owner"
	RoleOperator Role = "operator"
)

// Credential is a stored API key: its hash, never the key.
type Credential struct {
	Owner  Owner
	Role   Role
	SHA256 [32]byte
}

// Stats are figures for metrics and alarms.
type Stats struct {
	Attempts      map[State]int64 // open and released ones; terminal states are not counted
	OldestUnknown time.Duration   // age of the oldest unknown attempt; 0: there is none
	OldestWaiting time.Duration   // age of the oldest attempt that may be claimed; 0: there is none
}

// Stuck is an attempt that has been unknown for long, for the list that an
// operator works through.
type Stuck struct {
	Owner    Owner
	Contract string
	Attempt  Attempt
}
