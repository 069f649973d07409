package service

import (
	"context"
	"time"

	"github.com/interlock-harness/interlock/service/internal/job"
)

const (
	upkeepOften = 100 * time.Millisecond
	upkeepEvery = 30 * time.Second
	purgeAtOnce = 1000
)

// lookFor is the pause between two looks for what is older than age.
func lookFor(age time.Duration) time.Duration { return max(upkeepOften, min(age, upkeepEvery)) }

// watchUnknown says in the log which attempts have been unknown for longer than
// --unknown-alarm: nothing but a person or the provider's answer ends them.
func (p *process) watchUnknown(ctx context.Context) {
	every(ctx, lookFor(p.config.UnknownAlarm), func() {
		stuck, err := p.store.Stuck(ctx, job.AnyOwner, p.config.UnknownAlarm, 20)
		if err != nil {
			p.log.Warn("list attempts that stay unknown", "error", err)
			return
		}
		for _, s := range stuck {
			p.log.Warn("an attempt stays unknown: ask the provider, then resolve, release or cancel it",
				"job_id", s.Attempt.JobID, "attempt_id", s.Attempt.ID, "n", s.Attempt.N, "provider", s.Attempt.Provider, "since", s.Attempt.Since)
		}
	})
}

// purge empties jobs that ended longer than --purge-after ago.
func (p *process) purge(ctx context.Context) {
	every(ctx, lookFor(p.config.PurgeAfter), func() {
		for ctx.Err() == nil {
			n, err := p.store.Purge(ctx, p.config.PurgeAfter, purgeAtOnce)
			if err != nil {
				p.log.Warn("purge", "error", err)
				return
			}
			if n > 0 {
				p.log.Info("purged", "jobs", n)
			}
			if n < purgeAtOnce {
				return
			}
		}
	})
}

// every does something again and again until ctx ends.
func every(ctx context.Context, pause time.Duration, do func()) {
	tick := time.NewTicker(pause)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			do()
		}
	}
}
