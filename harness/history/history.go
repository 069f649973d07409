// Package history is the append-only record of one run: who called what, when
// it returned or that it never did, what each fault really did, what arrived at
// the providers and what the database held.
//
// It keeps three rules. One monotonic clock and one counter order everything,
// across clients, proxies, stand-ins and database reads. What is recorded is
// never changed. And everything is on disk before anybody judges it (Flush).
package history

import (
	"encoding/json"
	"fmt"
)

// Kind says what an event is.
type Kind string

const (
	// Invoke is a client operation about to leave. Its outcome is the OK, Fail
	// or Info event with the same call; one that has none is still unknown.
	Invoke Kind = "invoke"
	// OK is an operation that took effect, as the target said itself (2xx).
	OK Kind = "ok"
	// Fail is an operation that the target definitely refused (4xx).
	Fail Kind = "fail"
	// Info is an operation whose outcome is not known: no answer, half an
	// answer, or one that promises nothing (5xx). It never turns into a Fail.
	Info Kind = "info"
	// Arrive is a provider call whose request was received by a stand-in.
	Arrive Kind = "arrive"
	// Answer is what the stand-in did with that call. It is recorded before the
	// last byte leaves, so that nothing the answer causes can come earlier.
	Answer Kind = "answer"
	// Row is one row as read from the database at level L2; Op names the table.
	// Rows of one read share a call and end with a Snapshot event.
	Row Kind = "row"
	// Snapshot begins and completes one read of a table (SnapshotFacts).
	Snapshot Kind = "snapshot"
	// Edge is what a proxy saw: connections, bytes, cuts.
	Edge Kind = "edge"
	// Armed, Fired and Healed are the life of one fault; Op names the fault,
	// the call ties the three together, Fired carries the evidence.
	Armed  Kind = "armed"
	Fired  Kind = "fired"
	Healed Kind = "healed"
	// Declared and Reached are a probe: a place that the scenario must pass.
	Declared Kind = "declared"
	Reached  Kind = "reached"
	// Phase opens a part of the scenario; Op is one of the Phase constants.
	Phase Kind = "phase"
	// Note is anything else worth keeping; Op says what (see the Note constants).
	Note Kind = "note"
)

// The phases of a scenario, in this order. A history without phases is all main.
const (
	PhaseMain  = "main"  // faults act
	PhaseHeal  = "heal"  // all faults are lifted
	PhaseDrain = "drain" // the target may finish, within a bound (PhaseFacts)
	PhaseAudit = "audit" // nothing is written any more, everything is read
)

// Notes that invariants read.
const (
	NoteCertified      = "certified"      // CertifiedFacts
	NoteResources      = "resources"      // ResourceFacts
	NoteTaken          = "taken"          // a submit of owner and key was seen being stored: ProbeFacts
	NoteInfrastructure = "infrastructure" // the stage itself broke: {"error": "..."}
)

// Client operations. A target may not offer all of them.
const (
	OpSubmit        = "submit"         // ok: Job
	OpGet           = "get"            // ok: Job
	OpList          = "list"           // ok: {"jobs": [Job]}
	OpStart         = "start"          // a new attempt; ok: Attempt
	OpCancel        = "cancel"         // the job; ok: Job
	OpAttempts      = "attempts"       // ok: {"attempts": [Attempt]}
	OpEvents        = "events"         // ok: {"events": [Move]}
	OpRaces         = "races"          // ok: {"races": [Race]}
	OpCancelAttempt = "cancel-attempt" // ok: Attempt
	OpRelease       = "release"        // ok: Attempt
	OpResolve       = "resolve"        // ok: Attempt
	OpEdge          = "edge"           // the harness itself tries a move (RequestFacts From and To)
)

// Tables at level L2.
const (
	TableJobs     = "jobs"
	TableAttempts = "attempts"
	TableEvents   = "attempt_events"
	TableRaces    = "races"
)

// Event is one line of a history.
type Event struct {
	// N counts events from 1. Of two events the smaller N was recorded first.
	N int64 `json:"n"`
	// AtUS is the time since the recorder started, in microseconds, monotonic.
	AtUS     int64  `json:"at_us"`
	Scenario string `json:"scenario,omitempty"`
	// Lane is where it happened: client, load balancer, api, postgres, worker,
	// provider, fault, harness.
	Lane string `json:"lane,omitempty"`
	// Actor is who did it within the lane: client-1, openai-demo, ...
	Actor string `json:"actor,omitempty"`
	Kind  Kind   `json:"kind"`
	Op    string `json:"op,omitempty"`
	// Call ties the events of one operation, provider call, fault or table read.
	Call    int64  `json:"call,omitempty"`
	Owner   string `json:"owner,omitempty"`
	Key     string `json:"key,omitempty"`
	Job     string `json:"job,omitempty"`
	Attempt string `json:"attempt,omitempty"`
	// Status is the HTTP status of an answer, 0 where there was none.
	Status int `json:"status,omitempty"`
	// Data holds one JSON object whose shape Kind and Op decide (facts.go).
	Data json.RawMessage `json:"data,omitempty"`
}

// Decode reads the data of e into one of the shapes of facts.go. Unknown fields
// are ignored: a target may say more than we read.
func (e Event) Decode(into any) error {
	if len(e.Data) == 0 {
		return nil
	}
	if err := json.Unmarshal(e.Data, into); err != nil {
		return fmt.Errorf("event %d (%s %s): data: %w", e.N, e.Kind, e.Op, err)
	}
	return nil
}

// known lists the kinds that a reader accepts.
var known = map[Kind]bool{
	Invoke: true, OK: true, Fail: true, Info: true, Arrive: true, Answer: true, Row: true, Snapshot: true, Edge: true,
	Armed: true, Fired: true, Healed: true, Declared: true, Reached: true, Phase: true, Note: true,
}
