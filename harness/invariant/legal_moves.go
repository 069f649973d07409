package invariant

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/interlock-harness/interlock/harness/history"
)

// legal lists the moves of an attempt; "" is before it exists.
var legal = map[string][]string{
	"":         {"starting"},
	"starting": {"running", "failed", "cancelled"},
	"running":  {"unknown", "released", "succeeded", "lost", "failed", "cancelled"},
	"unknown":  {"released", "succeeded", "lost", "failed", "cancelled"},
	"released": {"succeeded", "lost", "failed", "cancelled"},
}

// MayMove reports whether an attempt may move from one state to another; "" is before
// it exists.
func MayMove(from, to string) bool { return mayMove(from, to) }

func mayMove(from, to string) bool {
	for _, s := range legal[from] {
		if s == to {
			return true
		}
	}
	return false
}

// reachable reports whether an attempt seen in from may later be seen in to.
func reachable(from, to string) bool {
	if from == to || mayMove(from, to) {
		return true
	}
	for _, next := range legal[from] {
		if reachable(next, to) {
			return true
		}
	}
	return false
}

// byTime are reasons that are no evidence of failure. "not sent" is: nothing
// left, so even a timeout is definite.
var (
	byTime  = regexp.MustCompile(`(?i)timeout|timed[ _-]?out|deadline|lease|stall|context cancell?ed`)
	notSent = regexp.MustCompile(`(?i)^not[ _-]sent`)
)

// legalMoves is I4.
func legalMoves(f *facts, t *tally) {
	forcedMoves(f, t)
	for _, j := range f.jobOrder {
		for _, a := range j.attempts {
			if len(a.moves)+len(a.seen)+len(a.calls) == 0 {
				continue
			}
			t.saw(1)
			if illegalTrail(a, t) || illegalSights(a, t) || failedByTime(a, t) {
				continue
			}
			againstAnswer(a, t)
		}
	}
}

// forcedMoves finds moves that the harness tried by itself and that the target's
// database let through although there is no such move.
func forcedMoves(f *facts, t *tally) {
	for _, o := range f.ops {
		if o.op != history.OpEdge || o.at == never {
			continue
		}
		t.saw(1)
		r := o.request
		if o.kind != history.OK || r.Machine == "" && mayMove(r.From, r.To) || r.Machine == "job" && slices.Contains(legalJob[r.From], r.To) {
			continue
		}
		t.violated(Finding{
			Sentence: fmt.Sprintf("The database let %s go from %s to %s.", firstOf(o.attempt, "job "+o.on), firstOf(r.From, "nothing"), r.To),
			Expected: "refused: there is no such move", Found: "done", Job: o.on, Attempt: o.attempt,
		}, o.from, o.at)
	}
}

func illegalTrail(a *attempt, t *tally) bool {
	var before moved
	for i, m := range a.moves {
		if m.target == "" {
			continue
		}
		if i > 0 && m.source != before.target {
			t.violated(Finding{
				Sentence: fmt.Sprintf("The trail of attempt %s has a gap: it moved to %s, then from %s.", a.id, before.target, m.source),
				Expected: "each move starts where the one before ended", Found: fmt.Sprintf("%s, then %s -> %s", before.target, m.source, m.target),
				Job: a.job.id, Attempt: a.id,
			}, before.at, m.at)
			return true
		}
		if !mayMove(m.source, m.target) {
			from := m.source
			if from == "" {
				from = "nothing"
			}
			t.violated(Finding{
				Sentence: fmt.Sprintf("Attempt %s moved from %s to %s, which no attempt may do.", a.id, from, m.target),
				Expected: fmt.Sprintf("from %s to one of %v", from, legal[m.source]), Found: "to " + m.target + ": " + m.reason,
				Job: a.job.id, Attempt: a.id,
			}, before.at, m.at)
			return true
		}
		before = m
	}
	return false
}

// illegalSights compares each sight with the last one that surely came before.
func illegalSights(a *attempt, t *tally) bool {
	for i, s := range a.seen {
		for k := i - 1; k >= 0; k-- {
			before := a.seen[k]
			if before.at >= s.from || before.state == "" || s.state == "" {
				continue
			}
			if !reachable(before.state, s.state) {
				t.violated(Finding{
					Sentence: fmt.Sprintf("Attempt %s was %s and later %s, which no attempt may become.", a.id, before.state, s.state),
					Expected: fmt.Sprintf("%s stays or moves on legally", before.state), Found: s.state,
					Job: a.job.id, Attempt: a.id,
				}, before.at, s.at)
				return true
			}
			break
		}
	}
	return false
}

// failedByTime finds a failure whose only ground is that time passed.
func failedByTime(a *attempt, t *tally) bool {
	blame := func(reason string, events ...int64) bool {
		if !byTime.MatchString(reason) || notSent.MatchString(reason) || a.resolved(never) {
			return false
		}
		t.violated(Finding{
			Sentence: fmt.Sprintf("Attempt %s was called failed because time had passed.", a.id),
			Expected: "unknown: the provider may still finish it", Found: "failed, reason " + reason,
			Job: a.job.id, Attempt: a.id,
		}, events...)
		return true
	}
	for _, m := range a.moves {
		if m.target == "failed" && blame(m.reason, m.at) {
			return true
		}
	}
	for _, s := range a.seen {
		if s.state == "failed" && blame(s.reason, s.at) {
			return true
		}
	}
	return false
}

// againstAnswer compares how an attempt ended with what its provider really did.
func againstAnswer(a *attempt, t *tally) {
	state, at := a.outcome()
	if len(a.calls) != 1 || a.resolved(at) { // more than one call is I7's; a resolution has evidence of its own
		return
	}
	c := a.calls[0]
	verdict := c.verdict
	if c.answered == 0 || c.answered > at {
		verdict = history.Unknown
	}
	wrong := map[string]map[string]string{
		"failed": {
			history.Unknown: "failed, though the provider had given no definite answer",
			history.Accept:  "failed, though the provider's answer was good",
		},
		"succeeded": {
			history.Unknown: "succeeded, though the provider had given no whole answer",
			history.Reject:  "succeeded on an answer that is no result",
			history.Refused: "succeeded, though the provider had refused it",
		},
		"lost": {
			history.Unknown: "called late, though the provider had given no whole answer",
		},
	}[state][verdict]
	if wrong == "" {
		return
	}
	t.violated(Finding{
		Sentence: fmt.Sprintf("Attempt %s was %s.", a.id, wrong),
		Expected: expectedFor(verdict), Found: state, Job: a.job.id, Attempt: a.id,
	}, c.arrived, c.answered, at)
}

func expectedFor(verdict string) string {
	switch verdict {
	case history.Accept:
		return "succeeded, lost, or still unknown"
	case history.Reject, history.Refused:
		return "failed"
	}
	return "unknown until there is a definite answer"
}

// outcome returns the terminal state of a and the event that first shows it.
func (a *attempt) outcome() (string, int64) {
	state, at := "", int64(never)
	for _, s := range a.seen {
		if terminal(s.state) && s.at < at {
			state, at = s.state, s.at
		}
	}
	for _, m := range a.moves {
		if terminal(m.target) && m.at < at {
			state, at = m.target, m.at
		}
	}
	return state, at
}
