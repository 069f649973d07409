package interleave

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/google/uuid"

	"github.com/interlock-harness/interlock/service/internal/job"
)

// read asks for the job as another owner, and pages on as its own.
func (l *lane) read(ctx context.Context, w *world) (found []Violation, err error) {
	_, asJob := l.store.Job(ctx, stranger, w.job)
	_, asAttempts := l.store.Attempts(ctx, stranger, w.job)
	_, asEvents := l.store.Events(ctx, stranger, w.job, 0, 0)
	for _, read := range []struct {
		what string
		err  error
	}{{"job", asJob}, {"attempts of the job", asAttempts}, {"events of the job", asEvents}} {
		switch {
		case read.err == nil:
			found = append(found, Violation{Invariant: "I11", Sentence: "another owner reads the " + read.what + " by its id"})
		case !errors.Is(read.err, job.ErrNotFound):
			return nil, fmt.Errorf("look as a stranger: %w", read.err)
		}
	}
	events, err := l.store.Events(ctx, owner, w.job, math.MaxInt64, 0)
	if err != nil {
		return nil, fmt.Errorf("read events: %w", err)
	}
	if len(events) > 0 {
		found = append(found, Violation{Invariant: "I9", Sentence: "who has seen all events is shown some again"})
	}
	races, err := l.store.Races(ctx, owner, job.RaceFilter{Job: w.job, After: 1})
	if err != nil {
		return nil, fmt.Errorf("read races: %w", err)
	}
	if len(races) > 0 {
		found = append(found, Violation{Invariant: "I9", Sentence: "who has seen all late results is shown some again"})
	}
	if races, err = l.store.Races(ctx, owner, job.RaceFilter{Job: job.ID(uuid.Must(uuid.NewV7()).String())}); err != nil {
		return nil, fmt.Errorf("read races: %w", err)
	}
	if len(races) > 0 {
		found = append(found, Violation{Invariant: "I13", Sentence: "who asks for the late results of one job is shown those of another"})
	}
	return found, nil
}
