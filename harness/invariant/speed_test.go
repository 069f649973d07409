//go:build unix

package invariant_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/metrics"
	"syscall"
	"testing"
	"time"

	"github.com/interlock-harness/interlock/harness/history"
	"github.com/interlock-harness/interlock/harness/invariant"
)

// big writes a history of jobs jobs with ten operations each.
func big(jobs int) []byte {
	w := newWorld("big")
	for i := range jobs {
		owner, key := fmt.Sprintf("o-%d", i%50), fmt.Sprintf("k-%d", i)
		o := w.invoke("client-1", history.OpSubmit, owner, key, "", "", history.SubmitFacts{Intent: mustJSON(plain)})
		o.info(0)
		j := w.create(owner, key, plain)
		replay := w.view(j)
		replay.Replayed = true
		w.invoke("client-1", history.OpSubmit, owner, key, "", "", history.SubmitFacts{Intent: mustJSON(plain)}).ok(200, j.ID, replay)
		w.get(owner, j)
		a := j.attempts[0]
		w.call(a)
		w.move(a, "unknown", "worker", "deadline")
		w.get(owner, j)
		w.verb(history.OpRelease, a, "released")
		b := w.again(j, "openai-demo", "t")
		w.call(b)
		w.get(owner, j)
		w.answer(b, history.Accept)
		w.finish(j, b)
		w.get(owner, j)
		w.answer(a, history.Accept)
		w.finish(j, a)
		w.get(owner, j)
		w.get(owner, j)
	}
	var file bytes.Buffer
	if err := history.Write(&file, w.audit()); err != nil {
		panic(err)
	}
	return file.Bytes()
}

// BenchmarkJudge100kOperations reads and judges a stored history. Its peak is
// the largest heap seen while it does.
func BenchmarkJudge100kOperations(b *testing.B) {
	path := filepath.Join(b.TempDir(), "history.jsonl")
	if err := os.WriteFile(path, big(10_000), 0o600); err != nil {
		b.Fatal(err)
	}
	runtime.GC()
	var before runtime.MemStats
	runtime.ReadMemStats(&before)
	base := before.HeapAlloc
	stop, peak := make(chan struct{}), make(chan uint64)
	go func() {
		highest, sample := uint64(0), []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
		ticker := time.NewTicker(5 * time.Millisecond)
		defer ticker.Stop()
		for {
			select {
			case <-stop:
				peak <- highest
				return
			case <-ticker.C:
				metrics.Read(sample)
				highest = max(highest, sample[0].Value.Uint64())
			}
		}
	}()
	operations := 0
	for b.Loop() {
		c := invariant.NewCollector()
		err := history.ScanFile(path, func(e history.Event) error {
			c.Add(e)
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
		r := c.History().Judge(2, invariant.Expect{})
		if r.Verdict != invariant.Pass {
			b.Fatal(explain(r))
		}
		operations = r.Operations
	}
	close(stop)
	b.ReportMetric(float64(operations), "operations")
	b.ReportMetric(float64(<-peak-base)/(1<<20), "peak-MiB")
}

// cpu is the processor time of this process: other processes do not change it.
func cpu(t *testing.T) time.Duration {
	t.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		t.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// TestJudgeIsLinear compares two sizes instead of trusting a clock alone: four
// times the jobs may take at most ten times as long; a quadratic rule takes 16.
func TestJudgeIsLinear(t *testing.T) {
	took := func(jobs int) time.Duration {
		events, err := history.Read(bytes.NewReader(big(jobs)))
		if err != nil {
			t.Fatal(err)
		}
		runtime.GC()
		best := time.Hour
		for range 3 {
			start := cpu(t)
			if r := invariant.Judge(events, 2, invariant.Expect{}); r.Verdict != invariant.Pass {
				t.Fatal(explain(r))
			}
			best = min(best, cpu(t)-start)
		}
		return best
	}
	small, large := took(250), took(1000)
	if large > 10*small {
		t.Errorf("250 jobs take %s, 1000 take %s", small, large)
	}
}
