package certificate_test

import (
	"testing"
	"time"

	"github.com/interlock-harness/interlock/providers/certificate"
)

// A warm gate answers from memory: at most 20 microseconds.
func BenchmarkAsk(b *testing.B) {
	w := newWorld(b)
	w.file(sign(b, w.statement, w.key))
	g := certificate.NewGate(w.evidence)
	for b.Loop() {
		if !g.Ask(w.question).Allow {
			b.Fatal("denied")
		}
	}
}

func BenchmarkNewGate(b *testing.B) {
	w := newWorld(b)
	w.file(sign(b, w.statement, w.key))
	for b.Loop() {
		certificate.NewGate(w.evidence)
	}
}

func TestAWarmGateIsQuick(t *testing.T) {
	w := newWorld(t)
	w.file(sign(t, w.statement, w.key))
	g := certificate.NewGate(w.evidence)
	best := time.Hour
	for range 50 { // the best of many, so that a busy machine does not decide
		begin := time.Now()
		for range 100 {
			g.Ask(w.question)
		}
		best = min(best, time.Since(begin)/100)
	}
	if best > 200*time.Microsecond && !raced {
		t.Errorf("one question takes %s", best)
	}
}

func FuzzGate(f *testing.F) {
	w := newWorld(f)
	good := sign(f, w.statement, w.key)
	f.Add(good)
	for _, seed := range []string{"", "{}", "null", "[]", `{"payload":"","payloadType":"","signatures":[]}`, `{"payload":null}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		w.evidence.Files = []certificate.File{{Name: "a.dsse.json", Data: data}}
		a := certificate.NewGate(w.evidence).Ask(w.question)
		if !a.Allow {
			if a.Exit == 0 || len(a.Reasons) == 0 {
				t.Fatalf("a deny without exit code or reason: %+v", a)
			}
			return
		}
		x, err := certificate.ReadEnvelope(good)
		y, err2 := certificate.ReadEnvelope(data)
		if err != nil || err2 != nil || string(x.Payload) != string(y.Payload) {
			t.Fatalf("allowed on other bytes: %q", data)
		}
	})
}
