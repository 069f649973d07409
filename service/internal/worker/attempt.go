package worker

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/interlock-harness/interlock/service/internal/job"
	"github.com/interlock-harness/interlock/service/internal/mutant"
)

// answered is what one call brought.
type answered struct {
	outcome  outcome
	provider string
	output   json.RawMessage // for accepted
	took     time.Duration
}

// attempt runs one claimed attempt to its end: an answer, or the hard limit, or
// the end of work. It settles once, or twice when the answer comes after the soft
// deadline. It returns the word for what it came to.
func (w *Worker) attempt(work context.Context, c job.Claimed) string {
	log := w.log.With("job_id", c.Job.ID, "attempt_id", c.Attempt.ID, "provider", c.Attempt.Provider)
	by := job.Settlement{
		Job: c.Job.ID, Attempt: c.Attempt.ID, Fence: c.Attempt.Fence, Version: c.Job.Version, Actor: "worker",
	}
	if reasons := w.gate.Allow(c.Job, c.Attempt.Provider); len(reasons) > 0 && !w.options.Mutant.Is(mutant.GateAskedOnce) {
		// the certificate ran out between the decision and the call
		by.Reason, by.Denied, by.Failure.Class = "not_sent.denied", reasons, job.ClassNotSent
		w.settleFailure(work, log, by)
		return string(notSent)
	}

	limit, cancel := context.WithTimeout(work, max(w.options.HardLimit, c.Deadline))
	defer cancel()
	answers := make(chan answered, 1)
	w.calls.Go(func() { answers <- w.call(limit, log, c, by) })

	soft := time.NewTimer(c.Deadline)
	defer soft.Stop()
	select {
	case a := <-answers:
		return w.settle(work, log, by, a, false)
	case <-w.passed(soft):
	case <-work.Done():
		a := <-answers // the context of the call has ended with work
		return w.settle(work, log, by, a, false)
	}

	// The answer is late. The attempt no longer needs its lease, and the call stays
	// open: it is how most unknown attempts become known.
	log.Info("no answer by the soft deadline", "deadline", c.Deadline)
	w.settleDeadline(work, log, by)
	w.notRunning(c.Attempt.ID)
	a := <-answers
	return w.settle(work, log, by, a, true)
}

// call sends the request and judges what came back. A panic on the way is a
// fault of ours after which nobody knows whether the request left: unknown.
func (w *Worker) call(ctx context.Context, log *slog.Logger, c job.Claimed, by job.Settlement) (a answered) {
	begun := time.Now()
	defer func() {
		if p := recover(); p != nil {
			log.Error("panic during a call", "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			a = answered{outcome: outcome{kind: unknown, reason: "unknown.panic"}}
		}
		a.provider, a.took = c.Attempt.Provider, time.Since(begun)
	}()
	header := http.Header{}
	header.Set("X-Job-Id", string(c.Job.ID))
	header.Set("X-Attempt-Id", string(c.Attempt.ID))
	known := func(ref string) { w.keep(ctx, log, by, ref) }
	t, err := w.caller.Call(ctx, c, header, known)
	for again := 0; again < 2 && w.sendsAgain(t, err); again++ {
		t, err = w.caller.Call(ctx, c, header, known)
	}
	if err != nil {
		log.Error("the request could not be built", "error", err)
		return answered{outcome: outcome{kind: notSent, reason: "not_sent.request"}}
	}
	j := w.judge.Judge(c.Job, c.Attempt.Provider, t)
	for again := 0; w.asksAgain(ctx, j, again); again++ {
		if t, err = w.caller.Call(ctx, c, header, known); err == nil {
			j = w.judge.Judge(c.Job, c.Attempt.Provider, t)
		}
	}
	a.outcome = classify(t, j, time.Now())
	if a.outcome.kind == accepted {
		a.output = j.Output
	}
	w.misread(&a, t)
	log.Info("answer", "outcome", a.outcome.kind, "reason", a.outcome.reason, "status", t.Status, "place", j.Place, "took", time.Since(begun))
	return a
}

// keep keeps the provider's id of the work. Without it the provider cannot be
// asked later; the call itself goes on all the same.
func (w *Worker) keep(ctx context.Context, log *slog.Logger, by job.Settlement, ref string) {
	if err := w.store.KeepRef(ctx, by, ref, w.options.FirstAsk); err != nil {
		log.Warn("the provider's id of the work is not kept: it cannot be asked about it", "error", err)
	}
}
