package worker

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/service/internal/job"
)

// Questions are those that are due to providers about attempts whose outcome
// nobody knows.
type Questions interface {
	TakeQuestions(ctx context.Context, plan job.AskPlan, limit int) ([]job.Question, error)
	EndQuestions(ctx context.Context, id job.AttemptID) error
	ResolveAttempt(ctx context.Context, r job.Resolution) (job.Attempt, error)
}

// Asker asks the provider of an attempt how the work stands that it keeps under
// an id, or to stop it when the attempt is cancelled. kept is what the provider
// says of that work; it is empty when it says nothing of it. The error is for a
// question that could not be asked.
type Asker interface {
	Ask(ctx context.Context, q job.Question) (t providers.Transcript, kept providers.Kept, err error)
}

// Reconciler asks providers about attempts that are unknown or released, and
// resolves them by what the provider states about the very work of that attempt:
// its end, and an answer that the contract judges like any other. What it does not
// state, an error or silence, changes nothing. Cancelled attempts stay what they
// are; the provider is asked to stop their work.
type Reconciler struct {
	Store Questions
	Asker Asker
	Judge Judge
	Plan  job.AskPlan
	Every time.Duration // between two looks for questions that are due
	Log   *slog.Logger
}

// atOnce bounds the questions under way in one process.
const atOnce = 16

// Run asks until ctx ends.
func (r *Reconciler) Run(ctx context.Context) {
	tick := time.NewTicker(r.Every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		due, err := r.Store.TakeQuestions(ctx, r.Plan, atOnce)
		if err != nil {
			if ctx.Err() == nil {
				r.Log.Warn("questions to providers", "error", err)
			}
			continue
		}
		var asking sync.WaitGroup
		for _, q := range due {
			asking.Go(func() { r.ask(ctx, q) })
		}
		asking.Wait()
	}
}

func (r *Reconciler) ask(ctx context.Context, q job.Question) {
	log := r.Log.With("job_id", q.Job.ID, "attempt_id", q.Attempt.ID, "provider", q.Attempt.Provider, "provider_ref", q.Ref, "question", q.N)
	t, kept, err := r.Asker.Ask(ctx, q)
	switch {
	case ctx.Err() != nil: // the next process asks again
		return
	case err != nil:
		log.Warn("the provider cannot be asked", "error", err)
	case !kept.Ended:
		log.Info("the provider states no end", "status", t.Status, "says", kept.Status)
	case q.Attempt.State == job.StateCancelled:
		log.Info("no work goes on for a cancelled attempt", "says", kept.Status)
		if err := r.Store.EndQuestions(ctx, q.Attempt.ID); err != nil {
			log.Warn("end the questions", "error", err)
		}
		return
	default:
		if r.resolve(ctx, log, q, t, kept) {
			return
		}
	}
	if q.Last {
		log.Warn("the provider is asked no more: a person must resolve, release or cancel the attempt")
	}
}

// resolve settles the attempt by what the provider states. It returns false when
// that is not enough.
func (r *Reconciler) resolve(ctx context.Context, log *slog.Logger, q job.Question, t providers.Transcript, kept providers.Kept) bool {
	j := r.Judge.Judge(q.Job, q.Attempt.Provider, t)
	resolution := job.Resolution{
		Move:     job.Move{Owner: job.AnyOwner, Job: q.Job.ID, N: q.Attempt.N, Actor: "reconciler"},
		Evidence: "the provider was asked for its work " + q.Ref + " and says " + kept.Status,
		Ref:      q.Ref, Status: kept.Status,
	}
	switch o := classify(t, j, time.Now()); o.kind {
	case accepted:
		resolution.Outcome, resolution.Result, resolution.Reason = job.OutcomeSucceeded, j.Output, o.reason
	case rejected, refused:
		resolution.Outcome, resolution.Reason = job.OutcomeFailed, o.reason
	default:
		log.Warn("the provider states an end that cannot be read", "says", kept.Status, "reason", o.reason)
		return false
	}
	a, err := r.Store.ResolveAttempt(ctx, resolution)
	switch {
	case errors.Is(err, job.ErrNotUnknown): // the answer itself, or a person, was faster
		log.Info("resolved by somebody else meanwhile")
	case err != nil:
		log.Warn("the attempt could not be resolved", "error", err)
		return false
	default:
		log.Info("the provider's word resolves the attempt", "says", kept.Status, "state", a.State, "reason", resolution.Reason)
	}
	return true
}
