package providers

import "encoding/json"

// Verdict is what one response is worth.
type Verdict string

const (
	// Accept: the provider states a normal end and the output meets schema and rules.
	Accept Verdict = "accept"
	// Reject: the provider finished, but what it gave cannot be used.
	Reject Verdict = "reject"
	// DefiniteFailure: the provider states that the request failed or was
	// refused; nothing to judge, no work goes on.
	DefiniteFailure Verdict = "definite_failure"
	// Unknown: nothing states how the request ended. Never a failure.
	Unknown Verdict = "unknown"
)

// Judgement is the verdict on one transcript under one contract.
type Judgement struct {
	Verdict Verdict         `json:"verdict"`
	Reason  string          `json:"reason"`           // family.detail, "ok" for accept
	Place   string          `json:"place,omitempty"`  // where the fault is: JSON pointer, event number, header
	Detail  string          `json:"detail,omitempty"` // one sentence for a person
	Output  json.RawMessage `json:"output,omitempty"` // the judged bytes, for accept only
}

// Outcome is the normalised outcome of a call, for statistics and reports.
type Outcome string

const (
	OutcomeOK            Outcome = "ok"
	OutcomeTruncated     Outcome = "truncated"
	OutcomeRefused       Outcome = "refused"
	OutcomeFiltered      Outcome = "filtered"
	OutcomeRateLimited   Outcome = "rate_limited"
	OutcomeOverloaded    Outcome = "overloaded"
	OutcomeToolCall      Outcome = "tool_call"
	OutcomeEmpty         Outcome = "empty"
	OutcomeMalformed     Outcome = "malformed"
	OutcomeProtocolError Outcome = "protocol_error"
	OutcomeUnknown       Outcome = "unknown"
)
