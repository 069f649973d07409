// Package failover says whether, where and when a job goes on after an attempt
// ended without a result.
//
// The rule it keeps: a job goes on by itself only after a definite failure (not
// sent, refused before execution, finished and rejected), or beside a released
// attempt where its owner asked for a race; never after an outcome that nobody
// knows. It goes to another provider only through the gate, which is asked again
// at the moment of the call. Each job has an attempt budget, and what a provider
// asked for in Retry-After is kept.
package failover

import (
	"strconv"
	"strings"
	"time"

	"github.com/interlock-harness/interlock/service/internal/job"
	"github.com/interlock-harness/interlock/service/internal/mutant"
)

// Gate answers whether jobs of a contract may fail over from one provider to
// another at a time. It returns the reasons why not; none means yes. It is asked
// inside transactions, so it must not wait for anything.
type Gate interface {
	Refuses(from, to, contract string, at time.Time) (reasons []string)
}

// Options of a policy. The zero value works.
type Options struct {
	MaxAttempts  int           // budget of one job, all attempts counted; default 8
	FirstBackoff time.Duration // before the second try at one provider; doubles; default 500 ms
	LastBackoff  time.Duration // default 1 min
	Mutant       mutant.Active
	Now          func() time.Time // default time.Now
}

// Policy decides. It keeps no state and may be asked by many at once.
type Policy struct {
	gate    Gate
	options Options
}

// New returns a policy behind gate.
func New(gate Gate, o Options) *Policy {
	if o.MaxAttempts == 0 {
		o.MaxAttempts = 8
	}
	if o.FirstBackoff == 0 {
		o.FirstBackoff = 500 * time.Millisecond
	}
	if o.LastBackoff == 0 {
		o.LastBackoff = time.Minute
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Policy{gate: gate, options: o}
}

// Allow returns why j may not be tried at provider. The provider that its owner
// submitted it for needs no certificate: that is no failover.
func (p *Policy) Allow(j job.Job, provider string) []string {
	if provider == j.Intent.Provider || p.options.Mutant.Is(mutant.GateOpen) {
		return nil
	}
	return p.gate.Refuses(j.Intent.Provider, provider, j.Intent.Contract, p.options.Now())
}

// Next says what follows after the newest of attempts (oldest first) ended with f.
//
// Providers that were not tried come first, in the owner's order, at once; the
// gate's refusals on the way are told. When the gate refused one and no other is
// left, the job stays as it stands. When all were tried, the one whose last
// failure may pass (not sent, rate limit, load shed) and that may be called
// earliest is tried again, after its back-off and its Retry-After.
func (p *Policy) Next(j job.Job, attempts []job.Attempt, f job.Failure) job.Decision {
	if j.Intent.Failover.Mode != "automatic" {
		return job.Decision{Reason: "manual"}
	}
	if p.spent(attempts) >= p.options.MaxAttempts {
		return job.Decision{Reason: "budget"}
	}
	var d job.Decision
	order := inOrder(j.Intent)
	for _, provider := range order {
		if last(attempts, provider) != nil {
			continue
		}
		if reasons := p.Allow(j, provider); len(reasons) > 0 {
			d.Denied = append(d.Denied, job.Denial{Provider: provider, Reasons: reasons})
			continue
		}
		d.Provider, d.Reason = provider, "failover"
		return d
	}
	if len(d.Denied) > 0 {
		d.Reason = "denied"
		return d
	}
	if f.Class == job.ClassDeadline {
		d.Reason = "all tried" // a race needs another provider, not the same once more
		return d
	}
	d.Reason = "all tried"
	for _, provider := range order {
		newest := last(attempts, provider)
		if !MayPass(newest.Reason) {
			continue
		}
		if reasons := p.Allow(j, provider); len(reasons) > 0 {
			d.Denied = append(d.Denied, job.Denial{Provider: provider, Reasons: reasons})
			continue
		}
		if wait := p.wait(attempts, provider, newest); d.Provider == "" || wait < d.Wait {
			d.Provider, d.Wait, d.Reason = provider, wait, "again"
		}
	}
	return d
}

// spent counts the attempts that a job has used up.
func (p *Policy) spent(attempts []job.Attempt) int {
	switch {
	case p.options.Mutant.Is(mutant.NoAttemptBudget):
		return 0
	case p.options.Mutant.Is(mutant.BudgetPerProvider):
		n := 0
		for i := range attempts {
			if attempts[i].Provider == attempts[len(attempts)-1].Provider {
				n++
			}
		}
		return n
	}
	return len(attempts)
}

// wait is how long provider must be left alone from now on.
func (p *Policy) wait(attempts []job.Attempt, provider string, newest *job.Attempt) time.Duration {
	if p.options.Mutant.Is(mutant.NoBackoff) {
		return 0
	}
	pause := p.options.FirstBackoff
	for i := range attempts {
		if attempts[i].Provider == provider && attempts[i].ID != newest.ID {
			pause = min(2*pause, p.options.LastBackoff)
		}
	}
	now := p.options.Now()
	ready := now.Add(pause)
	if newest.EndedAt != nil {
		ready = newest.EndedAt.Add(pause)
	}
	if newest.RetryAt != nil && newest.RetryAt.After(ready) {
		ready = *newest.RetryAt
	}
	return max(0, ready.Sub(now))
}

// inOrder lists the job's providers, its own first, each once.
func inOrder(in job.Intent) []string {
	order := []string{in.Provider}
	for _, p := range in.Failover.Providers {
		seen := false
		for _, q := range order {
			seen = seen || p == q
		}
		if !seen {
			order = append(order, p)
		}
	}
	return order
}

// last returns the newest attempt at provider, or nil.
func last(attempts []job.Attempt, provider string) *job.Attempt {
	for i := len(attempts) - 1; i >= 0; i-- {
		if attempts[i].Provider == provider {
			return &attempts[i]
		}
	}
	return nil
}

// MayPass reports whether the same request may succeed at the same provider
// later, going by the reason of a failed attempt: it was not sent, or it was
// refused for load. A request that the provider calls wrong stays wrong.
func MayPass(reason string) bool {
	class, detail, _ := strings.Cut(reason, ".")
	switch class {
	case string(job.ClassNotSent):
		return detail == "connect" // one that could not be built, or that the gate refused, stays so
	case string(job.ClassRefused):
		status, err := strconv.Atoi(detail)
		return err == nil && (status == 409 || status == 425 || status == 429 || status >= 500)
	}
	return false
}
