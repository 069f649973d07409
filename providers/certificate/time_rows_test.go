package certificate_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/interlock-harness/interlock/providers/certificate"
)

func TestF16ToF20StatementAndTimes(t *testing.T) {
	cases := []struct {
		name   string
		change func(*world)
		want   int
		part   string
	}{
		{"F16 another predicate", func(w *world) {
			w.statement.PredicateType = "https://in-toto.io/attestation/test-result/v0.1"
		}, 14, "test-result"},
		{"F16 newer version", func(w *world) {
			w.statement.PredicateType = strings.TrimSuffix(certificate.PredicateType, "1") + "2"
		}, 14, "v2"},
		{"another statement type", func(w *world) { w.statement.Type = "https://in-toto.io/Statement/v0.1" }, 13, ""},
		{"F17 notAfter now", func(w *world) { w.statement.Predicate.NotAfter = at(0) }, 11, "expired 2026-11-29T12:00:00Z (now)"},
		{"F17 notAfter a second ago", func(w *world) { w.statement.Predicate.NotAfter = at(-time.Second) }, 11, "1 seconds ago"},
		{"F17 notAfter in a second", func(w *world) { w.statement.Predicate.NotAfter = at(time.Second) }, 0, ""},
		{"F18 notBefore in a second", func(w *world) { w.statement.Predicate.NotBefore = at(time.Second) }, 11, "begins"},
		{"F18 notBefore in an hour", func(w *world) { w.statement.Predicate.NotBefore = at(time.Hour) }, 11, "in 60 minutes"},
		{"F18 skew is allowed when set", func(w *world) {
			w.statement.Predicate.NotBefore = at(time.Second)
			w.trust(func(tr *certificate.Trust) { tr.Skew = "2s" })
		}, 0, ""},
		{"notBefore now", func(w *world) { w.statement.Predicate.NotBefore = at(0) }, 0, ""},
		{"F19 notAfter before notBefore", func(w *world) { w.statement.Predicate.NotAfter = at(-2 * time.Hour) }, 13, ""},
		{"F19 lives 14 days and a second", func(w *world) {
			w.statement.Predicate.NotAfter = at(-time.Hour + 14*24*time.Hour + time.Second)
		}, 13, "longer"},
		{"F19 lives 14 days", func(w *world) { w.statement.Predicate.NotAfter = at(-time.Hour + 14*24*time.Hour) }, 0, ""},
		{"two days ago", func(w *world) { w.question.At = noon.Add(96 * time.Hour) }, 11, "(3 days ago)"},
		{"serial 0", func(w *world) { w.statement.Predicate.Serial = 0 }, 13, ""},
		{"mode maybe", func(w *world) { w.statement.Predicate.Mode = "maybe" }, 13, ""},
		{"two profile subjects", func(w *world) { w.statement.Subject = append(w.statement.Subject, w.statement.Subject[0]) }, 13, ""},
		{"no transcripts subject", func(w *world) { w.statement.Subject = w.statement.Subject[:3] }, 13, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			c.change(w)
			w.expect(c.want, c.part)
		})
	}
	for _, bad := range []string{
		"2026-11-29T0:00:00Z", "2026-11-29T00:00:00,5Z", "2026-11-29T00:00:00.5Z", "2026-11-29T00:00:00-00:00", "2026-11-29T00:00:00+00:00",
		"2026-11-28T24:00:00Z", "2026-11-29T00:00:60Z", "9999-11-29T00:00:00Z", "2026-11-29t00:00:00z", "2026-11-29T00:00:00z",
		"2026-11-29 00:00:00Z", "2026-11-29", "2026-02-30T00:00:00Z", "1796000000", "", " 2026-11-29T00:00:00Z", "2026-11-29T00:00:00Z ",
		"+2026-11-29T00:00:00Z", "２026-11-29T00:00:00Z", "2026-1-29T00:00:00Z", "1999-01-01T00:00:00Z", "2200-01-01T00:00:00Z",
	} {
		t.Run("F20 "+bad, func(t *testing.T) {
			for _, field := range []string{`"notBefore":"2026-11-29T11:00:00Z"`, `"notAfter":"2026-11-30T12:00:00Z"`} {
				w := newWorld(t)
				payload, _, _ := w.parts()
				name, _, _ := strings.Cut(field, ":")
				changed := bytes.Replace(payload, []byte(field), []byte(name+`:"`+bad+`"`), 1)
				if bytes.Equal(changed, payload) {
					t.Fatal("nothing replaced")
				}
				data, _ := certificate.SignPayload(certificate.PayloadType, changed, w.key)
				w.file(data)
				w.expect(13, "")
			}
			if _, err := certificate.ParseTime(bad); err == nil {
				t.Error("ParseTime took it")
			}
		})
	}
}

func TestF21ToF25TimeAndMemory(t *testing.T) {
	t.Run("F21 as of a past day", func(t *testing.T) {
		w := newWorld(t)
		w.evidence.Floor = noon // the clock of an honest question could not stand before it
		w.question.At, w.question.AsOf = noon.Add(-30*time.Minute), true
		w.expect(0, "")
		if a := w.ask(); !a.AsOf || a.At.String() != "2026-11-29T11:30:00Z" {
			t.Errorf("not marked: %+v", a)
		}
	})
	t.Run("F22 clock before the build", func(t *testing.T) {
		w := newWorld(t)
		w.evidence.Floor = noon.Add(time.Second)
		w.expect(3, "clock")
	})
	t.Run("F22 clock before the newest certificate seen", func(t *testing.T) {
		w := newWorld(t)
		w.evidence.Seen.Newest = at(time.Second)
		w.expect(3, "clock")
	})
	t.Run("F23 an older one after a newer failing one", func(t *testing.T) {
		w := newWorld(t)
		old := sign(t, w.statement, w.key)
		w.statement.Predicate.Serial = 8
		w.statement.Predicate.Checks[0].Verdict = certificate.Fail
		w.expect(1, "S01")
		w.evidence.Seen = certificate.NewGate(w.evidence).Seen(noon)
		w.evidence.Files = []certificate.File{{Name: "old.dsse.json", Data: old}}
		w.expect(16, "serial 7, but 8 was seen")
	})
	t.Run("F23 the memory survives being written", func(t *testing.T) {
		w := newWorld(t)
		w.ask()
		seen := certificate.NewGate(w.evidence).Seen(noon)
		again, err := certificate.ReadSeen(seen.Write())
		if err != nil || !again.Equal(seen) || len(again.Serials) != 1 || !again.Newest.Equal(at(-time.Hour).Time) {
			t.Errorf("%v %+v", err, again)
		}
	})
	t.Run("a certificate from the future does not move the clock floor", func(t *testing.T) {
		w := newWorld(t)
		w.statement.Predicate.NotBefore = at(time.Hour)
		w.ask()
		if s := certificate.NewGate(w.evidence).Seen(noon); !s.Newest.IsZero() {
			t.Errorf("remembered %s", s.Newest)
		}
	})
	t.Run("F24 no memory warns", func(t *testing.T) {
		w := newWorld(t)
		w.evidence.Seen = nil
		w.expect(0, "")
		if a := w.ask(); len(a.Notes) == 0 || !strings.Contains(a.Notes[0], "no memory") {
			t.Errorf("notes %q", a.Notes)
		}
	})
	t.Run("F24 no memory where one is required", func(t *testing.T) {
		w := newWorld(t)
		w.evidence.Seen, w.evidence.NeedSeen = nil, true
		w.expect(3, "")
	})
	t.Run("F25 the highest serial by a stolen key, then a new key", func(t *testing.T) {
		w := newWorld(t)
		stolen := key(t)
		w.trust(func(tr *certificate.Trust) {
			tr.Issuers = append(tr.Issuers, certificate.Issuer{
				Name: "old", Key: stolen.Public(), Providers: []string{"*"}, Contracts: []string{"*"}, Status: certificate.Compromised})
		})
		forged := w.statement
		forged.Predicate.Serial = 1<<63 - 1
		forged.Predicate.NotBefore = at(-time.Minute)
		w.named("forged.dsse.json", sign(t, forged, stolen))
		w.statement.Predicate.Serial = 1
		w.named("new.dsse.json", sign(t, w.statement, w.key))
		w.expect(0, "")
	})
}
