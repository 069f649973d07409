package interleave

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"time"

	"github.com/interlock-harness/interlock/service/internal/job"
	"github.com/interlock-harness/interlock/service/internal/postgres"
)

// Who asks. The stranger uses the same key for another job.
const (
	owner    job.Owner = "alice"
	stranger job.Owner = "bob"
)

// passed is a lease that is over when it is given, so that a reaper that comes
// next finds something to do.
const passed = -time.Second

// world is the job of one schedule.
type world struct {
	set      Set
	key      job.Key
	job      job.ID // empty in situation New
	xmin     string
	attempts []job.Attempt // as they were at the beginning
}

// first and newest are the attempts that transactions name.
func (w *world) first() job.Attempt  { return w.attempts[0] }
func (w *world) newest() job.Attempt { return w.attempts[len(w.attempts)-1] }

// outcome is what one transaction returned.
type outcome struct {
	tx      Transaction
	nth     int
	target  job.Attempt // the attempt that it named, if it named one
	err     error
	job     job.Job
	created bool
	attempt job.Attempt
	claimed []job.Claimed
}

func (o outcome) name() string { return fmt.Sprintf("%s %d", o.tx, o.nth+1) }

// actor is who the outcome's events name, where the transaction can say it.
func (o outcome) actor() string { return fmt.Sprintf("%s-%d", o.tx, o.nth) }

// submission of the key: the first two of a set mean the same, the next is a
// stranger's; where the job is there already the second is the stranger's.
func submission(w *world, nth int) job.Submission {
	who, text := owner, "one intent"
	if nth > 1 || nth > 0 && w.set.Situation != New {
		who, text = stranger, "another intent"
	}
	return job.Submission{
		Owner: who, Key: w.key, Fingerprint: sha256.Sum256([]byte(text)), FingerprintAlgorithm: 1,
		RawBody: []byte(text), Intent: intent,
	}
}

var intent = job.Intent{
	Contract: "interleave@1.0.0", Provider: "p", Input: json.RawMessage(`{}`),
	Failover: job.Failover{Mode: "manual"}, DeadlineMS: 60_000,
}

// result is what an attempt brings home.
func result(a job.Attempt) json.RawMessage { return json.RawMessage(fmt.Sprintf(`{"by":%d}`, a.N)) }

// run is transaction o.tx, the o.nth of its kind in the set.
func (o *outcome) run(ctx context.Context, s *postgres.Store, w *world) {
	move := func(a job.Attempt) job.Move {
		o.target = a
		return job.Move{Owner: owner, Job: w.job, N: a.N, Actor: o.actor(), Reason: "because"}
	}
	switch o.tx {
	case Submit:
		o.job, o.created, o.err = s.Submit(ctx, submission(w, o.nth))
	case Start:
		o.attempt, _, o.err = s.StartAttempt(ctx, job.Start{Owner: owner, Job: w.job, Actor: o.actor()})
	case Claim:
		o.claimed, o.err = s.Claim(ctx, o.actor(), passed, 1)
	case Complete:
		o.target = w.contender(o.nth)
		o.err = s.Complete(ctx, job.Settlement{
			Job: w.job, Attempt: o.target.ID, Fence: o.target.Fence, Version: 1, Actor: o.actor(), Reason: "ok",
		}, result(o.target))
	case CancelAttempt:
		a := w.first()
		if o.nth%2 == 1 {
			a = w.newest()
		}
		o.attempt, o.err = s.CancelAttempt(ctx, move(a))
	case CancelJob:
		o.job, o.err = s.CancelJob(ctx, job.Move{Owner: owner, Job: w.job, Actor: o.actor()})
	case Release:
		o.attempt, o.err = s.ReleaseAttempt(ctx, move(w.newest()))
	case Reap:
		_, o.err = s.ReapLeases(ctx)
	case Resolve:
		r := job.Resolution{Move: move(w.first()), Outcome: job.OutcomeSucceeded, Result: result(w.first()), Evidence: "seen"}
		if o.nth%2 == 1 {
			r.Outcome, r.Result = job.OutcomeFailed, nil
		}
		o.attempt, o.err = s.ResolveAttempt(ctx, r)
	}
}

// contender is whose result the nth Complete of a set brings: in a race each
// attempt has one.
func (w *world) contender(nth int) job.Attempt {
	if w.set.Situation == Raced {
		return w.attempts[nth%len(w.attempts)]
	}
	return w.first()
}
