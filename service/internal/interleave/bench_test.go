package interleave_test

import (
	"runtime"
	"syscall"
	"testing"
	"time"
)

// BenchmarkTriples plays every order of two triples: schedules a second, and
// the processor time of this process for each; PostgreSQL's comes on top.
func BenchmarkTriples(b *testing.B) {
	names := []string{"raced/complete+complete+cancel-attempt", "queued/start+claim+cancel-job"}
	for b.Loop() {
		o := options(b, "", 2*runtime.NumCPU())
		before := processorTime(b)
		r := search(b, o, sets(b, names...))
		if r.Violating > 0 {
			b.Fatal(r.Violations)
		}
		n := float64(r.Schedules + r.Equal + r.Undecided)
		b.ReportMetric(n/r.Took.Seconds(), "schedules/s")
		b.ReportMetric((processorTime(b)-before).Seconds()*1e6/n, "µs-cpu/schedule")
		b.ReportMetric(n, "schedules")
		b.ReportMetric(float64(r.Diverged), "diverged")
	}
}

func processorTime(tb testing.TB) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		tb.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
