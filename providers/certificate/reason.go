package certificate

import (
	"fmt"
	"strings"
	"time"
)

// Code is the machine-readable name of a reason.
type Code string

// The reasons for which the gate denies, by what a person has to do about them.
const (
	NoCertificate  Code = "none"            // nothing for this provider and contract
	Unreadable     Code = "unreadable"      // a file that cannot be read, or is no envelope
	TrustMissing   Code = "trust"           // the trust file cannot be read
	StateMissing   Code = "state"           // the caller insists on a memory and has none
	Clock          Code = "clock"           // the clock stands before something that is past
	BadEnvelope    Code = "envelope"        // not of the strict form
	BadSignature   Code = "signature"       // no signature of a trusted key, or too few
	WrongIssuer    Code = "issuer"          // signed by a key that may not sign this
	BadStatement   Code = "statement"       // signed, but not of the strict form
	Tie            Code = "tie"             // two certificates of one serial
	WrongPredicate Code = "predicate"       // another kind or version of statement
	Expired        Code = "expired"         // notAfter has come
	NotYet         Code = "not-yet"         // notBefore has not
	WrongContract  Code = "contract"        // made for another version or text of the contract
	WrongProfile   Code = "profile"         // the route changed since
	WrongFixtures  Code = "fixtures"        // the fixtures changed since
	Drift          Code = "drift"           // the provider changed since
	OutOfScope     Code = "scope"           // the request needs what was not exercised
	OtherPrimary   Code = "primary"         // compared with another provider than the one that fails over
	NotIndependent Code = "upstream"        // both are served by the same company
	ReplayOnly     Code = "replay"          // made from recordings
	IsRevoked      Code = "revoked"         // taken back, or its key is
	RolledBack     Code = "rollback"        // a newer one was seen before
	NoRevocations  Code = "revocation-list" // the list that must be there cannot be used
	TooFew         Code = "samples"         // fewer cases than the plan of the contract
	Undecided      Code = "inconclusive"    // a must check did not come to a verdict
	CheckFailed    Code = "check"           // a must check failed, was skipped, repeated or left out
)

// class is the exit code of a reason, and its detailed exit code.
var class = map[Code]struct{ exit, detailed int }{
	NoCertificate: {2, 10}, TooFew: {2, 10}, Undecided: {2, 10},
	Expired: {2, 11}, NotYet: {2, 11},
	WrongProfile: {2, 12}, WrongFixtures: {2, 12}, Drift: {2, 12},
	BadEnvelope: {2, 13}, BadSignature: {2, 13}, WrongIssuer: {2, 13}, BadStatement: {2, 13}, Tie: {2, 13},
	WrongPredicate: {2, 14}, WrongContract: {2, 14}, OutOfScope: {2, 14}, OtherPrimary: {2, 14}, NotIndependent: {2, 14},
	ReplayOnly: {2, 15},
	IsRevoked:  {2, 16}, RolledBack: {2, 16}, NoRevocations: {2, 16},
	CheckFailed: {1, 1},
	Unreadable:  {3, 3}, TrustMissing: {3, 3}, StateMissing: {3, 3}, Clock: {3, 3},
}

// Reason is one thing that keeps the gate shut.
type Reason struct {
	Code     Code   `json:"code"`
	Sentence string `json:"sentence"`
	Remedy   string `json:"remedy,omitempty"` // a command, or what a person has to do
	Check    string `json:"check,omitempty"`  // the check that keeps it shut
}

func (r Reason) exit() int     { return class[r.Code].exit }
func (r Reason) detailed() int { return class[r.Code].detailed }

func because(code Code, format string, args ...any) Reason {
	return Reason{Code: code, Sentence: fmt.Sprintf(format, args...)}
}

func (r Reason) mend(format string, args ...any) Reason {
	r.Remedy = fmt.Sprintf(format, args...)
	return r
}

// ago says how far t lies from now, in the largest unit that fits.
func ago(t, now time.Time) string {
	d := now.Sub(t)
	text, future := "", d < 0
	if future {
		d = -d
	}
	switch {
	case d >= 48*time.Hour:
		text = fmt.Sprintf("%d days", int(d.Hours())/24)
	case d >= 2*time.Hour:
		text = fmt.Sprintf("%d hours", int(d.Hours()))
	case d >= 2*time.Minute:
		text = fmt.Sprintf("%d minutes", int(d.Minutes()))
	case d >= time.Second:
		text = fmt.Sprintf("%d seconds", int(d.Seconds()))
	default:
		return "now"
	}
	if future {
		return "in " + text
	}
	return text + " ago"
}

func day(t Time) string {
	if t.Hour() == 0 && t.Minute() == 0 && t.Second() == 0 {
		return t.UTC().Format("2006-01-02")
	}
	return t.String()
}

// version splits id@version.
func version(contract string) (id, v string) {
	id, v, _ = strings.Cut(contract, "@")
	return id, v
}
