package certificate_test

import (
	"testing"
	"time"

	"github.com/interlock-harness/interlock/providers/certificate"
)

// TestEachReasonIsItsOwn spoils one thing at a time: the gate names that and nothing
// else.
func TestEachReasonIsItsOwn(t *testing.T) {
	for want, spoil := range map[certificate.Code]func(*world){
		certificate.Expired:    func(w *world) { w.question.At = noon.Add(24 * time.Hour) },
		certificate.NotYet:     func(w *world) { w.statement.Predicate.NotBefore = at(time.Second) },
		certificate.ReplayOnly: func(w *world) { w.statement.Predicate.Mode = certificate.Replay },
		certificate.OutOfScope: func(w *world) { w.question.Needs.Input = 901 },
		certificate.WrongIssuer: func(w *world) {
			w.trust(func(t *certificate.Trust) { t.Issuers[0].Contracts = []string{"triage"} })
		},
		certificate.IsRevoked: func(w *world) {
			w.trust(func(t *certificate.Trust) { t.Issuers[0].Status = certificate.Compromised })
		},
		certificate.Drift:        func(w *world) { w.evidence.Suspected = map[string]string{"anthropic-demo": "another build"} },
		certificate.BadSignature: func(w *world) { w.key = key(w.t) },
		certificate.TooFew:       func(w *world) { w.statement.Predicate.Plan.Cases = 29 },
		certificate.CheckFailed:  func(w *world) { w.statement.Predicate.Checks[0].Verdict = certificate.Fail },
		certificate.WrongProfile: func(w *world) { w.statement.Subject[0].Digest.SHA256 = certificate.Hash(nil) },
	} {
		w := newWorld(t)
		spoil(w)
		w.file(sign(t, w.statement, w.key))
		a := certificate.NewGate(w.evidence).Ask(w.question)
		if a.Allow || len(a.Reasons) != 1 || a.Reasons[0].Code != want || a.Reasons[0].Sentence == "" || a.Reasons[0].Remedy == "" {
			t.Errorf("%s: %s %+v", want, a.Answer, a.Reasons)
		}
	}
}
