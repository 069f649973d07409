package certificate_test

import (
	"slices"
	"testing"
	"time"

	"github.com/interlock-harness/interlock/providers/certificate"
)

func TestF32ToF35Checks(t *testing.T) {
	checks := func(change func(k []certificate.Check) []certificate.Check) func(*world) {
		return func(w *world) { w.statement.Predicate.Checks = change(w.statement.Predicate.Checks) }
	}
	first := func(change func(*certificate.Check)) func(*world) {
		return checks(func(k []certificate.Check) []certificate.Check { change(&k[0]); return k })
	}
	cases := []struct {
		name   string
		change func(*world)
		want   int
	}{
		{"F32 a must check failed", first(func(k *certificate.Check) { k.Verdict = certificate.Fail }), 1},
		{"F32 failed and expired: the evidence says no", func(w *world) {
			w.statement.Predicate.Checks[0].Verdict = certificate.Fail
			w.question.At = noon.Add(48 * time.Hour)
		}, 1},
		{"F33 list too short", checks(func(k []certificate.Check) []certificate.Check { return k[:1] }), 1},
		{"F33 no list", checks(func(k []certificate.Check) []certificate.Check { return k[:0] }), 1},
		{"F33 listed twice, once failed", checks(func(k []certificate.Check) []certificate.Check {
			again := k[0]
			again.Verdict = certificate.Fail
			return append(k, again)
		}), 1},
		{"F33 listed twice", checks(func(k []certificate.Check) []certificate.Check { return append(k, k[0]) }), 1},
		{"F33 severity lowered", first(func(k *certificate.Check) { k.Severity, k.Verdict = certificate.Should, certificate.Fail }), 1},
		{"F34 no samples", first(func(k *certificate.Check) { k.N, k.Passes = 0, 0 }), 10},
		{"F34 no cases", func(w *world) { w.statement.Predicate.Plan.Cases = 0 }, 10},
		{"F34 fewer cases than the plan", func(w *world) { w.statement.Predicate.Plan.Cases = 29 }, 10},
		{"F34 fewer repeats than the plan", func(w *world) { w.statement.Predicate.Plan.Repeats = 7 }, 10},
		{"inconclusive", first(func(k *certificate.Check) { k.Verdict = certificate.Inconclusive }), 10},
		{"F35 repeated until it passed", first(func(k *certificate.Check) { k.Retries = 1 }), 1},
		{"F35 skipped", first(func(k *certificate.Check) { k.Verdict = certificate.Skipped }), 1},
		{"demanded and not applicable", first(func(k *certificate.Check) { k.Verdict, k.N, k.Passes = certificate.NotApplicable, 0, 0 }), 1},
		{"not applicable, with cases", checks(func(k []certificate.Check) []certificate.Check {
			return append(k, certificate.Check{ID: "P04", Severity: certificate.Must, Verdict: certificate.NotApplicable, N: 2, Basis: certificate.Live, Evidence: []string{}})
		}), 1},
		{"not applicable, not demanded", checks(func(k []certificate.Check) []certificate.Check {
			return append(k, certificate.Check{ID: "P04", Severity: certificate.Must, Verdict: certificate.NotApplicable, Basis: certificate.Live, Evidence: []string{}})
		}), 0},
		{"an unknown verdict", first(func(k *certificate.Check) { k.Verdict = "PASS" }), 1},
		{"bound below the threshold", first(func(k *certificate.Check) { k.Lower95 = 0.89 }), 1},
		{"more passes than cases", first(func(k *certificate.Check) { k.Passes = 31 }), 1},
		{"too many inconclusive cases", first(func(k *certificate.Check) { k.Passes, k.Inconclusive = 29, 1 }), 1},
		{"a should check failed", checks(func(k []certificate.Check) []certificate.Check {
			return append(k, certificate.Check{ID: "S08", Severity: certificate.Should, Verdict: certificate.Fail, N: 1, Basis: certificate.Live, Evidence: []string{}})
		}), 0},
		{"plan registered after the run", func(w *world) { w.statement.Predicate.Plan.Registered = at(-time.Minute) }, 1},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			c.change(w)
			w.expect(c.want, "")
		})
	}
}

func TestF38TwoValidCertificates(t *testing.T) {
	t.Run("the newest serial decides", func(t *testing.T) {
		w := newWorld(t)
		w.named("a.dsse.json", sign(t, w.statement, w.key))
		w.statement.Predicate.Serial = 8
		w.statement.Predicate.Checks = slices.Clone(w.statement.Predicate.Checks)
		w.statement.Predicate.Checks[0].Verdict = certificate.Fail
		w.named("b.dsse.json", sign(t, w.statement, w.key))
		w.expect(1, "")
		slices.Reverse(w.evidence.Files)
		w.expect(1, "")
	})
	t.Run("a tie denies", func(t *testing.T) {
		w := newWorld(t)
		w.named("a.dsse.json", sign(t, w.statement, w.key))
		w.statement.Predicate.Model = "another"
		w.named("b.dsse.json", sign(t, w.statement, w.key))
		w.expect(13, "serial 7")
	})
	t.Run("two copies are no tie", func(t *testing.T) {
		w := newWorld(t)
		w.named("a.dsse.json", sign(t, w.statement, w.key))
		w.named("b.dsse.json", sign(t, w.statement, w.key))
		w.expect(0, "")
	})
	t.Run("of two keys the later beginning decides", func(t *testing.T) {
		w := newWorld(t)
		second := key(t)
		w.trust(func(tr *certificate.Trust) {
			tr.Issuers = append(tr.Issuers, certificate.Issuer{Name: "b", Key: second.Public(), Providers: []string{"*"}, Contracts: []string{"*"}})
		})
		w.named("a.dsse.json", sign(t, w.statement, w.key))
		w.statement.Predicate.Serial = 1
		w.statement.Predicate.NotBefore = at(-time.Minute)
		w.statement.Predicate.Checks = slices.Clone(w.statement.Predicate.Checks)
		w.statement.Predicate.Checks[0].Verdict = certificate.Fail
		w.named("b.dsse.json", sign(t, w.statement, second))
		w.expect(1, "")
	})
}
