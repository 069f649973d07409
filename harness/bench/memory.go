package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// mostMemory of a replica with 1,000 attempts in flight, in MiB.
const mostMemory = 128

// memory reads the resident memory of a replica whose attempts are all at the
// provider, which holds them.
func memory(ctx context.Context, r *rig) ([]Row, error) {
	r.o.Note(fmt.Sprintf("%d attempts in flight", r.o.InFlight))
	if err := r.forget(ctx); err != nil {
		return nil, err
	}
	n := strconv.Itoa(r.o.InFlight)
	s, err := r.serve(ctx, "--role", "api,worker", "--concurrency", n, "--heartbeat", "1s", "--lease", "1m")
	if err != nil {
		return nil, err
	}
	defer s.stop()
	c := &client{addr: s.addr, key: ownerKey}
	defer c.close()
	for i := range r.o.InFlight {
		status, answer, err := c.send("POST", "/v1/jobs", fmt.Sprint("held-", i), intent(held, `,"deadline_ms":600000`))
		if err != nil || status != 201 {
			return nil, fmt.Errorf("submit: %d %.200s, %w", status, answer, err)
		}
	}
	const flying = `SELECT count(*) FROM attempts WHERE state = 'running' AND provider = 'held'`
	if err := r.until(ctx, "attempts in flight", float64(r.o.InFlight), flying); err != nil {
		return nil, err
	}
	arriving, cancel := context.WithTimeout(ctx, toSettle)
	defer cancel()
	err = every(arriving, 10*time.Millisecond, func() (bool, error) { return r.provider.waiting.Load() >= int64(r.o.InFlight), nil },
		func() string {
			return fmt.Sprintf("%d of %s calls arrive at the provider", r.provider.waiting.Load(), n)
		})
	if err != nil {
		return nil, err
	}
	most, end := 0.0, time.Now().Add(r.o.slice()) // a few heartbeats and collections
	err = every(ctx, 100*time.Millisecond, func() (bool, error) {
		now, err := resident(s.process.PID())
		most = max(most, now)
		return time.Now().After(end), err
	}, func() string { return "the resident memory is being watched" })
	if err != nil {
		return nil, err
	}
	close(r.provider.release)
	const done = `SELECT count(*) FROM attempts WHERE state = 'succeeded' AND provider = 'held'`
	if err := r.until(ctx, "held jobs that end", float64(r.o.InFlight), done); err != nil {
		return nil, err
	}
	return []Row{Row{Measure: "resident memory, " + n + " in flight", Ours: most, Unit: "MiB", Ratio: most,
		Detail: "the most that was seen"}.atMost(mostMemory)}, nil
}

// resident is the resident memory of a process in MiB, as Linux tells it.
func resident(pid int) (float64, error) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		return 0, errors.New("the resident memory of a process is read on Linux only")
	}
	for line := range strings.Lines(string(text)) {
		if kib, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			n, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(kib), "kB")), 64)
			return n / 1024, err
		}
	}
	return 0, errors.New("the process has no resident memory: it has ended")
}
