package httpapi

import (
	"sync"
	"time"

	"github.com/interlock-harness/interlock/service/internal/job"
)

// rates bounds what one owner may ask for in a second, so that one owner's
// flood is answered 429 and the others notice nothing. Each process counts for
// itself.
type rates struct {
	rate  float64 // tokens a second; 0 is no limit
	burst float64
	mu    sync.Mutex
	left  map[job.Owner]tokens
}

type tokens struct {
	n  float64
	at time.Time
}

func newRates(rate float64, burst int) *rates {
	return &rates{rate: rate, burst: float64(max(burst, 1)), left: make(map[job.Owner]tokens)}
}

// take spends one token of owner, or says how long to wait for the next.
func (r *rates) take(owner job.Owner, now time.Time) (wait time.Duration, ok bool) {
	if r.rate <= 0 {
		return 0, true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	t, seen := r.left[owner]
	if !seen {
		r.forget(now)
		t = tokens{n: r.burst, at: now}
	}
	t.n = min(r.burst, t.n+r.rate*now.Sub(t.at).Seconds())
	t.at = now
	if t.n < 1 {
		r.left[owner] = t
		return time.Duration((1 - t.n) / r.rate * float64(time.Second)), false
	}
	t.n--
	r.left[owner] = t
	return 0, true
}

// forget drops owners whose bucket is full again: they are as good as new.
func (r *rates) forget(now time.Time) {
	for owner, t := range r.left {
		if t.n+r.rate*now.Sub(t.at).Seconds() >= r.burst {
			delete(r.left, owner)
		}
	}
}

// spend refuses with 429 when the caller's owner is above its limit.
func (c *call) spend() error {
	wait, ok := c.s.rates.take(c.who.Owner, time.Now())
	if ok {
		return nil
	}
	no := refuse(rateLimited, "nothing was stored: repeat the request with the same key")
	no.retryAfter = max(wait, time.Second)
	return no
}

// streams counts the open event streams of each owner.
type streams struct {
	limit int
	mu    sync.Mutex
	open  map[job.Owner]int
}

// enter takes a place for one stream; leave gives it back.
func (s *streams) enter(owner job.Owner) (leave func(), ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open[owner] >= s.limit {
		return nil, false
	}
	if s.open == nil {
		s.open = make(map[job.Owner]int)
	}
	s.open[owner]++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.open[owner]--; s.open[owner] == 0 {
			delete(s.open, owner)
		}
	}, true
}
