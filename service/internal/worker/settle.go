package worker

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/interlock-harness/interlock/service/internal/job"
	"github.com/interlock-harness/interlock/service/internal/mutant"
)

// Waits between two tries to settle while the store is away, and how long a
// settlement is tried after the worker was told to stop.
const (
	firstPause  = 50 * time.Millisecond
	lastPause   = 2 * time.Second
	afterTheEnd = 3 * time.Second
)

// settle tells the store what an attempt came to, and returns the word for it.
// late: the attempt is unknown or released by now.
func (w *Worker) settle(work context.Context, log *slog.Logger, by job.Settlement, a answered, late bool) string {
	by.Reason = a.outcome.reason
	by.Failure = job.Failure{Class: job.Class(a.outcome.kind), RetryAfter: a.outcome.retryAfter}
	told := string(a.outcome.kind)
	switch a.outcome.kind {
	case accepted:
		if w.options.Mutant.Is(mutant.SlowStoreIsFailure) && w.storeIsSlow(work, log, by, a) {
			return told
		}
		err := w.persist(work, func(ctx context.Context) error { return w.store.Complete(ctx, by, a.output) })
		if errors.Is(err, job.ErrLate) {
			told = "late"
			log.Info("late result: it is dropped, the race is recorded", "bytes", len(a.output))
		} else if err != nil {
			log.Error("the result could not be stored: the attempt stays as it is", "error", err)
		}
	case notSent, refused, rejected:
		w.settleFailure(work, log, by)
	default:
		switch {
		case late: // it is unknown already, and stays so
		case w.options.Mutant.Is(mutant.ShutdownIsFailure) && work.Err() != nil:
			w.settleFailure(work, log, by)
		default:
			if work.Err() != nil {
				by.Reason = "shutdown"
			}
			w.settleUnknown(work, log, by)
		}
	}
	w.options.Metrics.AttemptEnded(a.provider, told, a.took)
	return told
}

// storeIsSlow stores a result the way of SlowStoreIsFailure: when it is not there
// at once, the attempt has failed.
func (w *Worker) storeIsSlow(work context.Context, log *slog.Logger, by job.Settlement, a answered) bool {
	ctx, cancel := context.WithTimeout(work, firstPause)
	defer cancel()
	err := w.store.Complete(ctx, by, a.output)
	if err == nil || errors.Is(err, job.ErrLate) {
		return err == nil
	}
	by.Reason = "timeout"
	w.settleFailure(work, log, by)
	return true
}

// settleFailure records a definite failure. An attempt that was settled by
// somebody else meanwhile is no error: a late failure changes nothing.
func (w *Worker) settleFailure(work context.Context, log *slog.Logger, by job.Settlement) {
	err := w.persist(work, func(ctx context.Context) error { return w.store.Fail(ctx, by) })
	if err != nil && !errors.Is(err, job.ErrAttemptTerminal) {
		log.Error("the failure could not be stored: the attempt stays as it is", "error", err, "reason", by.Reason)
	}
}

// settleDeadline marks an attempt whose answer is late.
func (w *Worker) settleDeadline(work context.Context, log *slog.Logger, by job.Settlement) {
	by.Reason, by.Failure.Class = "deadline", job.ClassDeadline
	if w.options.Mutant.Is(mutant.DeadlineIsFailure) {
		by.Failure.Class = job.ClassRefused
		w.settleFailure(work, log, by)
		return
	}
	w.settleUnknown(work, log, by)
}

func (w *Worker) settleUnknown(work context.Context, log *slog.Logger, by job.Settlement) {
	var now job.State
	err := w.persist(work, func(ctx context.Context) (err error) {
		now, err = w.store.MarkUnknown(ctx, by)
		return err
	})
	switch {
	case err == nil:
		log.Info("nobody knows how it ended", "state", now, "reason", by.Reason)
	case !errors.Is(err, job.ErrAttemptTerminal):
		log.Error("the attempt could not be marked: its lease will pass", "error", err, "reason", by.Reason)
	}
}

// persist repeats do for as long as the store is unavailable and work lasts, and
// a little longer. Settlements carry their identity, so repeating one that was
// stored after all changes nothing.
func (w *Worker) persist(work context.Context, do func(context.Context) error) error {
	ctx, cancel := context.WithCancel(context.WithoutCancel(work))
	defer cancel()
	stop := context.AfterFunc(work, func() { time.AfterFunc(afterTheEnd, cancel) })
	defer stop()
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		err := do(ctx)
		if err == nil || !errors.Is(err, job.ErrUnavailable) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(pause):
		}
	}
}
