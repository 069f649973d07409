package check

import (
	"net/http"
	"strconv"
	"time"
)

// w04 demands that a refusal for load says when to come back, and that our side
// sent the request once: no adapter, transport or SDK tries again by itself.
var w04 = Check{
	ID: "W04", Title: "a 429 says when to come back, and nobody tries again by himself",
	Kind: Deterministic, Severity: Must, Probes: []Probe{RateLimit},
	judge: expect(RateLimit, func(_ *Run, o *Observation) (bool, string) {
		switch {
		case o.Served > 1:
			return false, "one request was sent " + strconv.Itoa(o.Served) + " times"
		case o.Transcript.Status != http.StatusTooManyRequests:
			return false, "status " + strconv.Itoa(o.Transcript.Status) + " where 429 was due"
		case !usableHint(o.Transcript.Header):
			return false, "Retry-After is missing or not between 1 second and 1 hour"
		}
		return true, ""
	}),
}

func usableHint(h http.Header) bool {
	within := func(d time.Duration) bool { return d > 0 && d <= time.Hour }
	if ms := h.Values("Retry-After-Ms"); len(ms) == 1 {
		n, err := strconv.ParseInt(ms[0], 10, 64)
		return err == nil && n <= int64(time.Hour/time.Millisecond) && within(time.Duration(n)*time.Millisecond)
	}
	values := h.Values("Retry-After")
	if len(values) != 1 {
		return false
	}
	if n, err := strconv.ParseInt(values[0], 10, 64); err == nil {
		return n <= int64(time.Hour/time.Second) && within(time.Duration(n)*time.Second)
	}
	at, err := http.ParseTime(values[0])
	now, err2 := http.ParseTime(h.Get("Date"))
	return err == nil && err2 == nil && within(at.Sub(now))
}
