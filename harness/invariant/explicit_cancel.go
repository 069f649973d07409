package invariant

import (
	"fmt"
	"slices"

	"github.com/interlock-harness/interlock/harness/history"
)

// explicitCancel is I15. It examines jobs and attempts that somebody asked to
// cancel, or that are cancelled.
func explicitCancel(f *facts, t *tally) {
	for _, j := range f.jobOrder {
		var asked, granted *operation
		for _, v := range j.verbs {
			if v.op != history.OpCancel {
				continue
			}
			if v.took() && asked == nil {
				asked = v
			}
			if v.kind == history.OK && granted == nil {
				granted = v
			}
		}
		cancelled := j.cancelledAt()
		if asked != nil || cancelled != never {
			t.saw(1)
		}
		if cancelled != never && (asked == nil || asked.from > cancelled) {
			t.violated(Finding{
				Sentence: fmt.Sprintf("Job %s is cancelled, and nobody asked for it.", j.id),
				Expected: "cancelled by an explicit request only", Found: "cancelled", Job: j.id,
			}, cancelled)
			continue
		}
		if granted != nil {
			holds(f, j, granted, t)
		}
		for _, a := range j.attempts {
			attemptCancel(j, a, asked, t)
		}
	}
}

func (j *job) cancelledAt() int64 {
	at := int64(never)
	for _, s := range j.seen {
		if s.cancelled() {
			at = min(at, s.at)
		}
	}
	for _, m := range j.moves {
		if m.event == "job.cancelled" {
			at = min(at, m.at)
		}
	}
	return at
}

// holds finds a cancel that was granted and does not hold, or is not recorded.
func holds(f *facts, j *job, granted *operation, t *tally) {
	for _, s := range j.seen {
		if s.absent || s.from < granted.at || s.cancelled() && !s.completed() {
			continue
		}
		t.violated(Finding{
			Sentence: fmt.Sprintf("The cancel of job %s was granted, and later the job is %s.", j.id, firstOf(s.status, "not cancelled")),
			Expected: "cancelled for good", Found: firstOf(s.status, "not cancelled"), Job: j.id, Attempt: s.completedBy,
		}, granted.from, granted.at, s.at)
		return
	}
	if j.movesRead < granted.at || len(j.moves) == 0 {
		return
	}
	for _, m := range j.moves {
		if m.event == "job.cancelled" {
			return
		}
	}
	t.violated(Finding{
		Sentence: fmt.Sprintf("The cancel of job %s was granted, and its trail does not say so.", j.id),
		Expected: "one job.cancelled event", Found: "none", Job: j.id,
	}, granted.from, granted.at, j.movesRead)
}

// attemptCancel finds an attempt that was cancelled unasked or without a name
// beside it, and one whose granted cancel does not hold.
func attemptCancel(j *job, a *attempt, ofJob *operation, t *tally) {
	cancelled := a.firstIn("cancelled")
	asked := a.asked(history.OpCancelAttempt, never)
	if cancelled != never {
		t.saw(1)
		byProvider := false
		for _, m := range a.moves {
			if m.target != "cancelled" {
				continue
			}
			byProvider = byProvider || m.actor == "provider"
			if m.actor == "" {
				t.violated(Finding{
					Sentence: fmt.Sprintf("Attempt %s was cancelled, and its trail does not say by whom.", a.id),
					Expected: "an actor", Found: "none", Job: j.id, Attempt: a.id,
				}, m.at)
			}
		}
		if asked == nil && ofJob == nil && !byProvider && !a.outlived() {
			t.violated(Finding{
				Sentence: fmt.Sprintf("Attempt %s is cancelled, and nobody asked for it.", a.id),
				Expected: "cancelled by an explicit request only", Found: "cancelled", Job: j.id, Attempt: a.id,
			}, cancelled)
		}
	}
	if asked == nil || asked.kind != history.OK {
		return
	}
	t.saw(1)
	if at := a.firstIn("succeeded"); at != never {
		t.violated(Finding{
			Sentence: fmt.Sprintf("The cancel of attempt %s was granted, and it succeeded all the same.", a.id),
			Expected: "fenced for ever", Found: "succeeded", Job: j.id, Attempt: a.id,
		}, asked.from, asked.at, at)
	}
}

// outlived says whether the attempt was never begun, and its job has its result from
// another: then there is nothing left to be sent.
func (a *attempt) outlived() bool {
	begun := a.firstIn("running") != never || a.firstIn("unknown") != never || len(a.calls) > 0
	return !begun && slices.ContainsFunc(a.job.attempts, func(o *attempt) bool { return o != a && o.firstIn("succeeded") != never })
}
