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
	state   job.State       // that a mark-unknown was told
	renewed []job.AttemptID // that a heartbeat was told it still holds
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

// nextSubmission is of the same owner, under a key that comes behind that of the job.
func nextSubmission(w *world) job.Submission {
	in := submission(w, 0)
	in.Key, in.RawBody = "z"+w.key, []byte("the next intent")
	in.Fingerprint = sha256.Sum256(in.RawBody)
	return in
}

// click is the key under which a retry starts an attempt.
const click job.Key = "again"

// lastWorker holds the attempts of a situation.
const lastWorker = "before"

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
		o.err = s.Complete(ctx, o.settlement(w), result(o.target))
	case Heartbeat:
		o.target = w.newest()
		o.renewed, o.err = s.Heartbeat(ctx, lastWorker, time.Hour, []job.AttemptID{o.target.ID})
	case Fail, StaleFail:
		o.err = s.Fail(ctx, o.settlement(w))
	case MarkUnknown, StaleUnknown:
		o.state, o.err = s.MarkUnknown(ctx, o.settlement(w))
	case StaleComplete:
		o.err = s.Complete(ctx, o.settlement(w), result(o.target))
	case StrangerStart:
		o.attempt, _, o.err = s.StartAttempt(ctx, job.Start{Owner: stranger, Job: w.job, Actor: o.actor()})
	case Retry:
		o.attempt, _, o.err = s.StartAttempt(ctx, job.Start{
			Owner: owner, Job: w.job, Actor: o.actor(), TriggerKey: click, TriggerFingerprint: sha256.Sum256([]byte(click)),
		})
	case SubmitNext:
		o.job, o.created, o.err = s.Submit(ctx, nextSubmission(w))
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

// settlement names the attempt that o is about; a stale one brings another fence.
func (o *outcome) settlement(w *world) job.Settlement {
	nth := o.nth
	if o.tx == Fail || o.tx == MarkUnknown { // in a race it is the other one that does not win
		nth++
	}
	o.target = w.contender(nth)
	by := job.Settlement{
		Job: w.job, Attempt: o.target.ID, Fence: o.target.Fence, Version: 1, Actor: o.actor(), Reason: "ok",
		Failure: job.Failure{Class: job.ClassRefused}, // of what fails
	}
	if o.tx == StaleComplete || o.tx == StaleFail || o.tx == StaleUnknown {
		by.Fence--
	}
	return by
}

// contender is whose result the nth Complete of a set brings: in a race each
// attempt has one.
func (w *world) contender(nth int) job.Attempt {
	if w.set.Situation == Raced {
		return w.attempts[nth%len(w.attempts)]
	}
	return w.first()
}
