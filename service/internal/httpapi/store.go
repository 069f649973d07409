package httpapi

import (
	"context"
	"encoding/json"
	"time"

	"github.com/interlock-harness/interlock/service/internal/job"
)

// Store is what the contract needs of the store, in parts of one purpose each.
// Each statement behind it is scoped to the owner that it is given.
type Store interface {
	Submitter
	Reader
	Historian
	Mover
	Operator
	Credentials
}

// Submitter makes one job of one key.
type Submitter interface {
	// Submit returns the new job, or with created false the one that the key
	// names already. Errors: *job.KeyConflictError, job.ErrPurged.
	Submit(ctx context.Context, s job.Submission) (j job.Job, created bool, err error)
}

// Reader reads jobs and attempts.
type Reader interface {
	Job(ctx context.Context, owner job.Owner, id job.ID) (job.Job, error)
	JobByKey(ctx context.Context, owner job.Owner, key job.Key) (job.Job, error)
	Jobs(ctx context.Context, owner job.Owner, f job.Filter) ([]job.Job, error)
	Attempts(ctx context.Context, owner job.Owner, id job.ID) ([]job.Attempt, error)
}

// Historian reads what happened.
type Historian interface {
	Events(ctx context.Context, owner job.Owner, id job.ID, after int64, limit int) ([]job.Event, error)
	Races(ctx context.Context, owner job.Owner, f job.RaceFilter) ([]job.Race, error)
	// Stuck lists attempts that have been unknown for longer than age, oldest first.
	Stuck(ctx context.Context, owner job.Owner, age time.Duration, limit int) ([]job.Stuck, error)
	// Pulse reads many jobs at once for those who wait for them; ids that do not
	// exist are left out.
	Pulse(ctx context.Context, ids []job.ID) (map[job.ID]job.Pulse, error)
}

// Mover is what an owner may do to a job.
type Mover interface {
	StartAttempt(ctx context.Context, s job.Start) (a job.Attempt, replayed bool, err error)
	CancelJob(ctx context.Context, m job.Move) (job.Job, error)
}

// Operator is what an operator may do to an attempt.
type Operator interface {
	CancelAttempt(ctx context.Context, m job.Move) (job.Attempt, error)
	ReleaseAttempt(ctx context.Context, m job.Move) (job.Attempt, error)
	ResolveAttempt(ctx context.Context, r job.Resolution) (job.Attempt, error)
}

// Credentials finds an API key by the SHA-256 of its text; job.ErrNotFound when
// there is none that is valid.
type Credentials interface {
	Credential(ctx context.Context, sha256 [32]byte) (job.Credential, error)
}

// Contracts are the deployed operational contracts.
type Contracts interface {
	// Resolve names the deployed version of `id` or `id@version`.
	Resolve(ref string) (string, error)
	// CheckInput and CheckResult judge a JSON object; the error says where and what.
	CheckInput(contract string, input json.RawMessage) error
	CheckResult(contract string, input, result json.RawMessage) error
}

// Provider is what a client may know of a provider.
type Provider struct {
	Name     string `json:"name"`
	Protocol string `json:"protocol"`
	Model    string `json:"model"`
	Upstream string `json:"upstream,omitempty"`
}

// Providers are the configured profiles, by name.
type Providers interface {
	Known(name string) bool
	List() []Provider
}

// GateAnswer is the gate's answer on one failover.
type GateAnswer struct {
	From     string   `json:"from"`
	To       string   `json:"to"`
	Contract string   `json:"contract"`
	Allowed  bool     `json:"allowed"`
	Reasons  []string `json:"reasons"`
}

// Gate answers whether a failover is allowed, and takes certificates.
type Gate interface {
	Ask(ctx context.Context, from, to, contract string) (GateAnswer, error)
	// Put keeps a certificate; the error is a *CertificateError when it is not valid.
	Put(ctx context.Context, envelope []byte) (Certificate, error)
}

// Certificate says what a certificate that was taken covers.
type Certificate struct {
	SHA256   string `json:"sha256"`
	Provider string `json:"provider"`
	Contract string `json:"contract"`
	Expires  string `json:"expires"`
	New      bool   `json:"-"`
}

// CertificateError says why a certificate was not taken.
type CertificateError struct {
	Reasons []string
}

func (e *CertificateError) Error() string { return "the certificate is not valid" }

// Metrics counts what the contract does.
type Metrics interface {
	Submitted(outcome string) // new, replayed, or the suffix of a problem
	Refused(suffix string)
}
