package httpapi

import (
	"strconv"
	"time"

	"github.com/interlock-harness/interlock/service/internal/job"
)

// problemKind is one type of problem. Its suffix is part of the contract: it
// never changes its meaning, and docs/problems has a page of its name.
type problemKind struct {
	suffix string
	status int
	title  string
	again  bool // the same request with the same key may succeed later
	unsure bool // nobody can say yet whether something was stored
	close  bool // the framing is in doubt, or more of the body is to come
}

// problemKinds lists every kind in the order of the documentation.
var problemKinds []*problemKind

func kind(status int, suffix, title string, marks ...func(*problemKind)) *problemKind {
	k := &problemKind{suffix: suffix, status: status, title: title}
	for _, mark := range marks {
		mark(k)
	}
	problemKinds = append(problemKinds, k)
	return k
}

func again(k *problemKind)  { k.again = true }
func unsure(k *problemKind) { k.unsure = true }
func closes(k *problemKind) { k.close = true }

var (
	requestMalformed   = kind(400, "request-malformed", "The request is not HTTP/1.1", closes)
	badConnection      = kind(400, "bad-connection-header", "The Connection header names a field that must arrive", closes)
	bodyUnreadable     = kind(400, "body-unreadable", "The body could not be read to its end", closes)
	bodyNotJSON        = kind(400, "body-not-strict-json", "The body is not strict JSON")
	keyMissing         = kind(400, "idempotency-key-missing", "The request has no idempotency key")
	keyInvalid         = kind(400, "idempotency-key-invalid", "The idempotency key is not well-formed")
	idInvalid          = kind(400, "id-invalid", "The path holds something that is no id")
	queryInvalid       = kind(400, "query-invalid", "The query is not well-formed")
	cursorInvalid      = kind(400, "cursor-invalid", "The cursor was not made for this list")
	headerInvalid      = kind(400, "header-invalid", "A header is not well-formed")
	unauthorized       = kind(401, "unauthorized", "The credential is not valid")
	roleRequired       = kind(403, "role-required", "The credential lacks the role for this")
	notCertified       = kind(403, "provider-not-certified", "The gate is shut for this provider")
	notFound           = kind(404, "not-found", "There is nothing here for this owner")
	methodNotAllowed   = kind(405, "method-not-allowed", "The method does not fit this path")
	bodyTimeout        = kind(408, "body-timeout", "The body did not arrive in time", again, closes)
	keyReused          = kind(409, "idempotency-key-reused", "The idempotency key belongs to another request")
	attemptInFlight    = kind(409, "attempt-in-flight", "An attempt is still open", again)
	jobTerminal        = kind(409, "job-terminal", "The job is finished")
	attemptTerminal    = kind(409, "attempt-terminal", "The attempt is finished")
	notReleasable      = kind(409, "not-releasable", "Only an unknown attempt can be released")
	notUnknown         = kind(409, "not-unknown", "Only an unknown or released attempt can be resolved")
	jobPurged          = kind(410, "job-purged", "The job of this key was purged")
	versionMismatch    = kind(412, "version-mismatch", "The job moved since it was read")
	bodyTooLarge       = kind(413, "body-too-large", "The body is too large", closes)
	targetTooLong      = kind(414, "target-too-long", "The request target is too long", closes)
	mediaType          = kind(415, "media-type-unsupported", "The body is not plain application/json", closes)
	expectationFailed  = kind(417, "expectation-failed", "The expectation cannot be met", closes)
	paramsInvalid      = kind(422, "params-invalid", "The intent cannot be carried out as it stands")
	resultInvalid      = kind(422, "result-invalid", "The result does not meet the contract")
	certificateInvalid = kind(422, "certificate-invalid", "The certificate is not valid")
	rateLimited        = kind(429, "rate-limited", "This owner sends too much at once", again)
	streamsSpent       = kind(429, "streams-spent", "This owner has too many open event streams", again)
	headersTooLarge    = kind(431, "headers-too-large", "The header block is too large", closes)
	internalError      = kind(500, "internal", "The service failed", again, unsure)
	codingUnsupported  = kind(501, "transfer-encoding-unsupported", "The transfer encoding is not supported", closes)
	storeUnavailable   = kind(503, "store-unavailable", "The store cannot be reached", again, unsure)
	versionUnsupported = kind(505, "http-version-unsupported", "The HTTP version is not supported", closes)
)

// refusal is a problem on its way out: a kind, and the facts of this case.
type refusal struct {
	kind       *problemKind
	detail     string
	pointer    string   // JSON pointer of the field at fault
	reasons    []string // the gate's
	jobID      job.ID
	attempt    job.AttemptID
	state      job.State
	since      time.Time
	version    int64
	allow      string        // methods, for 405
	retryAfter time.Duration // for what may clear
}

func (r *refusal) Error() string { return r.kind.suffix + ": " + r.detail }

func refuse(kind *problemKind, detail string) *refusal {
	return &refusal{kind: kind, detail: detail}
}

// problemBody is the RFC 9457 document of a refusal.
type problemBody struct {
	Type          string        `json:"type"`
	Title         string        `json:"title"`
	Status        int           `json:"status"`
	Detail        string        `json:"detail,omitempty"`
	Pointer       string        `json:"pointer,omitempty"`
	JobID         job.ID        `json:"job_id,omitempty"`
	AttemptID     job.AttemptID `json:"attempt_id,omitempty"`
	State         job.State     `json:"state,omitempty"`
	Since         string        `json:"since,omitempty"`
	Version       int64         `json:"version,omitempty"`
	Reasons       []string      `json:"reasons,omitempty"`
	Retryable     bool          `json:"retryable"`
	Indeterminate bool          `json:"indeterminate,omitempty"`
}

func (r *refusal) body() problemBody {
	b := problemBody{
		Type: "/problems/" + r.kind.suffix, Title: r.kind.title, Status: r.kind.status,
		Detail: r.detail, Pointer: r.pointer, JobID: r.jobID, AttemptID: r.attempt,
		State: r.state, Version: r.version, Reasons: r.reasons,
		Retryable: r.kind.again, Indeterminate: r.kind.unsure,
	}
	if !r.since.IsZero() {
		b.Since = r.since.UTC().Format(time.RFC3339Nano)
	}
	return b
}

// quoted shows at most 64 bytes of input, escaped, for a detail.
func quoted(s string) string {
	q := strconv.QuoteToASCII(s)
	if len(q) > 64 {
		q = q[:60] + "...\""
	}
	return q
}

// ProblemTypes are the suffixes of all types, for tests and documentation.
func ProblemTypes() []string {
	var all []string
	for _, k := range problemKinds {
		all = append(all, k.suffix)
	}
	return all
}
