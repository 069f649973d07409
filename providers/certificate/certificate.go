// Package certificate holds the signed statement that a provider may stand in
// for another, whom to believe, and the gate that asks both before any job goes
// over.
//
// A certificate is an in-toto Statement v1 in a DSSE envelope, signed with
// ed25519. It binds a route (base URL, protocol, model), a contract, the
// fixtures and the transcripts by digest, and lives for a short time. The gate
// is shut unless everything holds; what cannot be read, cannot be verified or is
// not stated never opens it. Nothing here calls a provider or the network.
package certificate

import (
	"crypto/sha256"
	"encoding/hex"
)

// Constants of the statement and its envelope.
const (
	StatementType = "https://in-toto.io/Statement/v1"
	PredicateType = "https://interlock.dev/provider-conformance/v1"
	PayloadType   = "application/vnd.in-toto+json"

	MaxBytes = 256 << 10 // of an envelope
)

// Names of the subjects. A subject of kind profile is called profile/NAME, of
// kind contract contract/ID@VERSION.
const (
	SubjectProfile     = "profile"
	SubjectContract    = "contract"
	SubjectFixtures    = "fixtures"
	SubjectTranscripts = "transcripts" // Merkle root over all transcripts of the run
)

// Statement is what is signed.
type Statement struct {
	Type          string    `json:"_type"`
	Subject       []Subject `json:"subject"`
	PredicateType string    `json:"predicateType"`
	Predicate     Predicate `json:"predicate"`
}

// Subject is one thing that the statement is about.
type Subject struct {
	Name   string `json:"name"`
	Digest Digest `json:"digest"`
}

// Digest is a SHA-256 in hex.
type Digest struct {
	SHA256 string `json:"sha256"`
}

// Mode says what stood behind the run.
type Mode string

const (
	// Live: the provider's own endpoint answered.
	Live Mode = "live"
	// Replay: recordings or the built-in stand-in answered. That proves the
	// adapter and the contract, not the vendor.
	Replay Mode = "replay"
)

// Predicate is what a run of the checks found.
type Predicate struct {
	Suite        Suite    `json:"suite"`
	Issuer       string   `json:"issuer"` // name in the trust file; the key decides, not the name
	Serial       int64    `json:"serial"` // rises with each certificate of one key, profile and contract
	Mode         Mode     `json:"mode"`
	Profile      string   `json:"profile"`
	Contract     string   `json:"contract"` // id@version
	Protocol     string   `json:"protocol"`
	Model        string   `json:"model"`        // as asked for
	Served       []string `json:"served"`       // model ids named in answers
	Fingerprints []string `json:"fingerprints"` // build or system fingerprints named in answers
	Upstream     string   `json:"upstream,omitempty"`
	Plan         Plan     `json:"plan"`
	Started      Time     `json:"started"`
	Ended        Time     `json:"ended"`
	NotBefore    Time     `json:"notBefore"`
	NotAfter     Time     `json:"notAfter"`
	Revocation   string   `json:"revocation,omitempty"` // where a revocation list is published
	Scope        Scope    `json:"scope"`
	Primary      *Primary `json:"primary,omitempty"` // the provider that answers were compared with
	Checks       []Check  `json:"checks"`
	Baseline     Baseline `json:"baseline"`
}

// Suite is the program that ran the checks.
type Suite struct {
	Version  string `json:"version"`
	Revision string `json:"revision"`
	Dirty    bool   `json:"dirty"`
}

// Plan is the statistics plan, registered before the first call.
type Plan struct {
	SHA256     string `json:"sha256"`
	Registered Time   `json:"registered"`
	Cases      int    `json:"cases"`   // n
	Repeats    int    `json:"repeats"` // k of each case
	Calls      int    `json:"calls"`   // that were made
}

// Scope is what the run exercised; a request that needs more is not covered.
type Scope struct {
	Modes     []string `json:"modes"` // json_schema, tool
	Streaming bool     `json:"streaming"`
	MaxInput  int64    `json:"max_input_tokens"` // longest prompt of the run, as counted by the provider
	Languages []string `json:"languages"`        // BCP 47
}

// Primary is the provider whose answers were the baseline of similarity.
type Primary struct {
	Profile string `json:"profile"`
	SHA256  string `json:"sha256"`
}

// Severity of a check.
type Severity string

const (
	Must   Severity = "must"
	Should Severity = "should"
)

// Verdict of a check.
type Verdict string

const (
	Pass         Verdict = "pass"
	Fail         Verdict = "fail"
	Inconclusive Verdict = "inconclusive"
	Skipped      Verdict = "skipped" // was not run at all; never as good as a pass
	// NotApplicable: the check had nothing to say about this provider, for the
	// reason given; never as good as a pass where the contract demands one.
	NotApplicable Verdict = "not-applicable"
)

// Check is the result of one check. N counts cases, the unit of the bound.
type Check struct {
	ID           string   `json:"id"`
	Severity     Severity `json:"severity"`
	Verdict      Verdict  `json:"verdict"`
	N            int      `json:"n"`
	K            int      `json:"k"`
	Passes       int      `json:"passes"`
	Inconclusive int      `json:"inconclusive"`
	Retries      int      `json:"retries"` // always 0 in an honest run
	Lower95      float64  `json:"lower95"`
	Threshold    float64  `json:"threshold"`
	Basis        Mode     `json:"basis"` // live, or replay where the situation cannot be provoked
	Reason       string   `json:"reason,omitempty"`
	Notes        []string `json:"notes,omitempty"` // declared deviations, and what is worth knowing
	Evidence     []string `json:"evidence"`        // digests of transcripts
}

// Baseline is what later answers are compared with to see drift.
type Baseline struct {
	Structure  map[string]int `json:"structure"`     // how often each structure was seen, by its hash (see Structure)
	Finish     map[string]int `json:"finish"`        // how often each finish word was seen, of accepted answers
	PromptSize map[string]int `json:"prompt_tokens"` // of 16 cases, as counted by the provider
}

// Structure is the hash under which the baseline keeps the keys and types of an
// output.
func Structure(shape string) string { return Hash([]byte(shape))[:16] }

// Hash is the SHA-256 of data in hex.
func Hash(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// subject finds the digest of the one subject of a kind; two of a kind are none.
func (s Statement) subject(kind, name string) string {
	if name != "" {
		kind += "/" + name
	}
	found := ""
	for _, sub := range s.Subject {
		if sub.Name != kind {
			continue
		}
		if found != "" {
			return ""
		}
		found = sub.Digest.SHA256
	}
	return found
}
