package invariant

import (
	"fmt"

	"github.com/interlock-harness/interlock/harness/history"
)

// lateResult is I6. A job that has ended, or of which an attempt had ended before
// its answer came, is examined where its race records were read afterwards or it
// was seen again.
func lateResult(f *facts, t *tally) {
	for _, j := range f.jobOrder {
		ended, sights := j.endedAt()
		if ended == never && !j.anyLost() && !j.answeredAfterEnd() {
			continue
		}
		if j.racesRead > 0 || sights > 1 {
			t.saw(1)
		}
		if changedAfterEnd(j, t) || fencedWinner(f, j, t) {
			continue
		}
		raceRecords(j, t)
		shownPayload(j, ended, t)
	}
}

// endedAt returns the first event that shows j ended and how many sights do.
func (j *job) endedAt() (int64, int) {
	at, sights := int64(never), 0
	for _, s := range j.seen {
		if s.ended() {
			at = min(at, s.at)
			sights++
		}
	}
	return at, sights
}

// answeredAfterEnd reports whether a provider gave a good answer to an attempt
// that was fenced, or recorded as failed, before.
func (j *job) answeredAfterEnd() bool {
	for _, a := range j.attempts {
		out := min(a.firstIn("cancelled"), a.firstIn("failed"))
		for _, c := range a.calls {
			if out != never && c.verdict == history.Accept && c.answered > out {
				return true
			}
		}
	}
	return false
}

func (j *job) anyLost() bool {
	for _, a := range j.attempts {
		if a.firstIn("lost") != never {
			return true
		}
	}
	return false
}

// changedAfterEnd finds a job row that somebody wrote after its outcome stood.
func changedAfterEnd(j *job, t *tally) bool {
	var first [2]jobSeen
	for _, s := range j.seen {
		kind := 0
		if s.row {
			kind = 1
		}
		before := first[kind]
		if before.at == 0 {
			if s.ended() {
				first[kind] = s
			}
			continue
		}
		if s.absent || !s.ended() && s.from <= before.at {
			continue // gone is I8's; a read that began earlier may show what was
		}
		what := ""
		switch {
		case !s.ended():
			what = "is open again"
		case s.completedBy != before.completedBy && s.row:
			what = fmt.Sprintf("was completed by %s, then by %s", before.completedBy, s.completedBy)
		case s.cancelled() != before.cancelled() && s.row:
			what = "changed its outcome"
		case s.version != before.version && s.version != 0 && before.version != 0:
			what = fmt.Sprintf("went from version %d to %d", before.version, s.version)
		case s.digest != before.digest && s.digest != "" && before.digest != "":
			what = "has another result"
		case s.xmin != "" && before.xmin != "" && s.xmin != before.xmin:
			what = "was written again"
		default:
			continue
		}
		t.violated(Finding{
			Sentence: fmt.Sprintf("Job %s had ended, and a late finisher touched it: it %s.", j.id, what),
			Expected: "a late finisher writes 0 rows", Found: "1 row", Job: j.id, Attempt: s.completedBy,
		}, before.at, s.at)
		return true
	}
	return false
}

// fencedWinner finds a result written by an attempt that was already out.
func fencedWinner(f *facts, j *job, t *tally) bool {
	for _, s := range j.seen {
		a := f.attempts[s.completedBy]
		if a == nil || a.job != j {
			continue
		}
		for _, out := range []string{"cancelled", "failed", "lost"} {
			if at := a.firstIn(out); at < s.from {
				t.violated(Finding{
					Sentence: fmt.Sprintf("Attempt %s was %s, and its late answer became the result of job %s.", a.id, out, j.id),
					Expected: "a late finisher writes 0 rows", Found: "completed by " + a.id, Job: j.id, Attempt: a.id,
				}, at, s.at)
				return true
			}
		}
	}
	return false
}

// raceRecords finds a lost attempt without its record, an attempt with two, the
// winner with one, and a record that names another winner.
func raceRecords(j *job, t *tally) {
	winner, winnerAt := "", int64(0)
	for _, s := range j.seen {
		if s.completedBy != "" {
			winner, winnerAt = s.completedBy, s.at
		}
	}
	for _, a := range j.attempts {
		var records []raced
		for _, r := range j.races {
			if r.attempt == a.id {
				records = append(records, r)
			}
		}
		lost := a.firstIn("lost")
		switch {
		case lost != never && len(records) == 0 && j.racesRead > lost:
			t.violated(Finding{
				Sentence: fmt.Sprintf("Attempt %s of job %s came too late, and no race was recorded.", a.id, j.id),
				Expected: "one race record", Found: "none", Job: j.id, Attempt: a.id,
			}, lost, j.racesRead)
		case len(records) > 1:
			t.violated(Finding{
				Sentence: fmt.Sprintf("The late result of attempt %s was recorded %d times.", a.id, len(records)),
				Expected: "one race record", Found: fmt.Sprint(len(records)), Job: j.id, Attempt: a.id,
			}, records[0].at, records[1].at)
		case len(records) == 1 && a.id == winner && len(a.calls) <= 1 && !a.resolved(never): // the late answer of a resolved one is a race
			t.violated(Finding{
				Sentence: fmt.Sprintf("Attempt %s won job %s and was recorded as late all the same.", a.id, j.id),
				Expected: "no race record for the winner", Found: "one", Job: j.id, Attempt: a.id,
			}, winnerAt, records[0].at)
		case len(records) == 1 && winner != "" && records[0].winner != "" && records[0].winner != winner:
			t.violated(Finding{
				Sentence: fmt.Sprintf("The race record of attempt %s names a winner that did not win.", a.id),
				Expected: winner, Found: records[0].winner, Job: j.id, Attempt: a.id,
			}, winnerAt, records[0].at)
		}
	}
}

// shownPayload searches what the target and its database showed for a text that
// only a late answer held.
func shownPayload(j *job, ended int64, t *tally) {
	winner := ""
	for _, s := range j.seen {
		winner = firstOf(s.completedBy, winner)
	}
	for _, a := range j.attempts {
		late := a.firstIn("lost") != never || winner != "" && a.id != winner
		if !late || a.resolved(never) {
			continue
		}
		for _, c := range a.calls {
			if c.shownAt != 0 {
				t.violated(Finding{
					Sentence: fmt.Sprintf("The payload of the late attempt %s can be seen in job %s.", a.id, j.id),
					Expected: "its hash and size at most", Found: "the text " + c.marker, Job: j.id, Attempt: a.id,
				}, min(ended, c.answered), c.shownAt)
				return
			}
		}
	}
}
