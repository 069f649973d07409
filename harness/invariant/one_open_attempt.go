package invariant

import (
	"fmt"
	"strings"

	"github.com/interlock-harness/interlock/harness/history"
)

// oneOpenAttempt is I3. It reads single sights (one answer, one table read), the
// audit trail, what providers saw, and the clicks that start attempts.
func oneOpenAttempt(f *facts, t *tally) {
	for _, j := range f.jobOrder {
		if len(j.attempts) == 0 {
			continue
		}
		t.saw(1)
		if openTogether(j, t) || openInTrail(j, t) || overlappingCalls(j, t) {
			continue // one proof a job is enough
		}
		triggers(j, t)
		blockedByNone(f, j, t)
	}
}

// openTogether finds one sight that shows two open attempts.
func openTogether(j *job, t *tally) bool {
	seen := map[int64]attemptSeen{}
	for _, a := range j.attempts {
		for _, s := range a.seen {
			if !open(s.state) {
				continue
			}
			other, twice := seen[s.read]
			if !twice || other.id == s.id {
				seen[s.read] = s
				continue
			}
			twoOpen(j, t, other.id, other.state, s.id, s.state, other.at, s.at)
			return true
		}
	}
	return false
}

// openInTrail replays the audit trail, whose numbers rise in commit order.
func openInTrail(j *job, t *tally) bool {
	state := map[string]moved{}
	for _, m := range j.moves {
		if m.attempt == "" || m.target == "" {
			continue
		}
		if open(m.target) {
			for id, other := range state {
				if id != m.attempt && open(other.target) {
					twoOpen(j, t, id, other.target, m.attempt, m.target, other.at, m.at)
					return true
				}
			}
		}
		state[m.attempt] = m
	}
	return false
}

// overlappingCalls finds two attempts of a job at providers at once, though
// nobody released, cancelled or resolved the first and the job allows no race.
// Where the audit trail is known it has already been replayed, and it decides.
func overlappingCalls(j *job, t *tally) bool {
	if j.race || len(j.moves) > 0 {
		return false
	}
	var calls []*call
	for _, a := range j.attempts {
		calls = append(calls, a.calls...)
	}
	for _, first := range calls {
		for _, second := range calls {
			if first.attempt == second.attempt || second.arrived < first.arrived {
				continue
			}
			if first.answered != 0 && first.answered < second.arrived {
				continue
			}
			if j.movedOut(first.attempt, second.arrived) {
				continue
			}
			twoOpen(j, t, first.attempt, "at "+first.provider, second.attempt, "at "+second.provider, first.arrived, second.arrived)
			return true
		}
	}
	return false
}

// movedOut reports whether anybody asked, before event n, for the attempt to
// stop blocking the job.
func (j *job) movedOut(attempt string, n int64) bool {
	for _, v := range j.verbs {
		switch v.op {
		case history.OpRelease, history.OpCancelAttempt, history.OpResolve:
			if v.attempt == attempt && v.took() && v.from < n {
				return true
			}
		}
	}
	return false
}

func twoOpen(j *job, t *tally, first, firstState, second, secondState string, events ...int64) {
	t.violated(Finding{
		Sentence: fmt.Sprintf("Attempts %s and %s of job %s were open at the same time.", first, second, j.id),
		Expected: "at most one attempt that is starting, running or unknown",
		Found:    fmt.Sprintf("%s %s, %s %s", first, firstState, second, secondState),
		Job:      j.id, Attempt: second,
	}, events...)
}

// blockedByNone finds a start that was refused for an attempt that was known to
// be out of the way: only an open attempt may keep another from starting.
func blockedByNone(f *facts, j *job, t *tally) {
	for _, v := range j.verbs {
		if v.op != history.OpStart || v.kind != history.Fail || !strings.HasSuffix(v.problem.Type, "attempt-in-flight") {
			continue
		}
		a := f.attempts[v.problem.AttemptID]
		if a == nil {
			continue
		}
		for _, out := range []string{"released", "succeeded", "lost", "failed", "cancelled"} {
			if at := a.firstIn(out); at < v.from {
				t.violated(Finding{
					Sentence: fmt.Sprintf("A new attempt of job %s was refused because of attempt %s, which was %s.", j.id, a.id, out),
					Expected: "only an open attempt keeps another from starting", Found: fmt.Sprintf("%d %s", v.status, v.problem.Type),
					Job: j.id, Attempt: a.id,
				}, at, v.from, v.at)
				return
			}
		}
	}
}

// triggers finds a retry click that made two attempts, or that was refused when
// it was repeated.
func triggers(j *job, t *tally) {
	made := map[string]*operation{}
	for _, v := range j.verbs {
		if v.op != history.OpStart || v.request.Trigger == "" || v.kind != history.OK {
			continue
		}
		first, twice := made[v.request.Trigger]
		if !twice {
			made[v.request.Trigger] = v
			continue
		}
		if first.toldAttempt != v.toldAttempt && first.toldAttempt != "" && v.toldAttempt != "" {
			t.violated(Finding{
				Sentence: fmt.Sprintf("One retry click on job %s, sent twice, started two attempts.", j.id),
				Expected: "the same attempt again", Found: first.toldAttempt + " and " + v.toldAttempt,
				Job: j.id, Attempt: v.toldAttempt,
			}, first.from, first.at, v.from, v.at)
			return
		}
	}
	for _, v := range j.verbs {
		first := made[v.request.Trigger]
		if v.op == history.OpStart && first != nil && v.kind == history.Fail && v.status == 409 &&
			v.from > first.at && v.request.Provider == first.request.Provider {
			t.violated(Finding{
				Sentence: fmt.Sprintf("A retry click on job %s, sent again, was refused although it had started an attempt.", j.id),
				Expected: "the same attempt again", Found: fmt.Sprintf("%d %s", v.status, v.problem.Type), Job: j.id,
			}, first.from, first.at, v.from, v.at)
			return
		}
	}
}
