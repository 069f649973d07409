package invariant

import (
	"fmt"

	"github.com/interlock-harness/interlock/harness/history"
)

// oneWinner is I5.
func oneWinner(f *facts, t *tally) {
	for _, j := range f.jobOrder {
		var winners []*attempt
		var won []int64
		for _, a := range j.attempts {
			if at := a.firstIn("succeeded"); at != never {
				winners, won = append(winners, a), append(won, at)
			}
		}
		completed := false
		for _, s := range j.seen {
			completed = completed || s.completed()
		}
		if !completed && len(winners) == 0 {
			continue
		}
		t.saw(1)
		if changedResult(j, t) {
			continue
		}
		if len(winners) > 1 {
			t.violated(Finding{
				Sentence: fmt.Sprintf("Attempts %s and %s of job %s both succeeded.", winners[0].id, winners[1].id, j.id),
				Expected: "one attempt succeeds, the other is lost", Found: fmt.Sprintf("%d attempts succeeded", len(winners)),
				Job: j.id, Attempt: winners[1].id,
			}, won...)
			continue
		}
		if completedTwice(j, t) || versionStands(j, t) {
			continue
		}
		foreignResult(f, j, t)
	}
}

// firstIn returns the event that first shows a in state, or never.
func (a *attempt) firstIn(state string) int64 {
	at := int64(never)
	for _, s := range a.seen {
		if s.state == state {
			at = min(at, s.at)
		}
	}
	for _, m := range a.moves {
		if m.target == state {
			at = min(at, m.at)
		}
	}
	return at
}

// changedResult compares every sight of a completed job with the first one:
// rows with rows and answers with answers, since the two spell a result apart.
func changedResult(j *job, t *tally) bool {
	var first [2]jobSeen
	for _, s := range j.seen {
		if !s.completed() {
			continue
		}
		kind := 0
		if s.row {
			kind = 1
		}
		before := first[kind]
		if before.at == 0 {
			first[kind] = s
			continue
		}
		what, was, is := "", "", ""
		switch {
		case before.completedBy != s.completedBy && before.completedBy != "" && s.completedBy != "":
			what, was, is = "winner", before.completedBy, s.completedBy
		case before.digest != s.digest && before.digest != "" && s.digest != "":
			what, was, is = "result", before.result, s.result
		default:
			continue
		}
		t.violated(Finding{
			Sentence: fmt.Sprintf("The stored %s of job %s changed from %s to %s.", what, j.id, was, is),
			Expected: "the first result stays: " + was, Found: is, Job: j.id, Attempt: s.completedBy,
		}, before.at, s.at)
		return true
	}
	if a, b := first[0], first[1]; a.at != 0 && b.at != 0 && a.completedBy != "" && b.completedBy != "" && a.completedBy != b.completedBy {
		t.violated(Finding{
			Sentence: fmt.Sprintf("Job %s was answered as completed by %s, but its row says %s.", j.id, a.completedBy, b.completedBy),
			Expected: a.completedBy, Found: b.completedBy, Job: j.id, Attempt: b.completedBy,
		}, a.at, b.at)
		return true
	}
	return false
}

// completedTwice finds a job that is completed and cancelled, or whose trail
// says twice that it succeeded.
func completedTwice(j *job, t *tally) bool {
	for _, s := range j.seen {
		if s.completed() && s.cancelled() {
			t.violated(Finding{
				Sentence: fmt.Sprintf("Job %s is cancelled and completed at once.", j.id),
				Expected: "one final outcome", Found: "both", Job: j.id, Attempt: s.completedBy,
			}, s.at)
			return true
		}
	}
	var first int64
	for _, m := range j.moves {
		if m.event != "job.succeeded" {
			continue
		}
		if first != 0 {
			t.violated(Finding{
				Sentence: fmt.Sprintf("The trail of job %s says twice that it succeeded.", j.id),
				Expected: "one job.succeeded", Found: "two", Job: j.id, Attempt: m.attempt,
			}, first, m.at)
			return true
		}
		first = m.at
	}
	return false
}

// versionStands finds an outcome that was stored without raising the version, or
// a row whose version fell.
func versionStands(j *job, t *tally) bool {
	var before jobSeen
	for _, s := range j.seen {
		if !s.row || s.version == 0 {
			continue
		}
		if before.at != 0 && before.at < s.from {
			fell := s.version < before.version
			stood := s.version == before.version && s.ended() != before.ended()
			if fell || stood {
				t.violated(Finding{
					Sentence: fmt.Sprintf("The row of job %s changed, but its version went from %d to %d.", j.id, before.version, s.version),
					Expected: "a version that rises with each change", Found: fmt.Sprintf("version %d", s.version), Job: j.id,
				}, before.at, s.at)
				return true
			}
		}
		before = s
	}
	return false
}

// foreignResult finds a stored result that is not what the winner's provider
// said. A resolved attempt brings its own result.
func foreignResult(f *facts, j *job, t *tally) {
	for _, s := range j.seen {
		a := f.attempts[s.completedBy]
		if s.digest == "" || a == nil || a.resolved(never) {
			continue
		}
		known := 0
		var answered int64
		for _, c := range a.calls {
			if c.verdict == history.Accept && c.output != "" {
				known++
				answered = c.answered
				if c.output == s.digest {
					return
				}
			}
		}
		if known > 0 {
			t.violated(Finding{
				Sentence: fmt.Sprintf("The result of job %s is not what the provider answered to its winner %s.", j.id, a.id),
				Expected: "the winner's own answer", Found: s.result, Job: j.id, Attempt: a.id,
			}, answered, s.at)
		}
		return
	}
}
