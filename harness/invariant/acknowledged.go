package invariant

import (
	"fmt"
	"net/http"

	"github.com/interlock-harness/interlock/harness/history"
)

// acknowledged is I8. A job is examined where it was looked for after the
// acknowledgement.
func acknowledged(f *facts, t *tally) {
	lookups := f.lookups()
	for _, k := range f.keyOrder {
		for _, o := range k.submits {
			if o.kind != history.OK || o.told == "" {
				continue
			}
			j := f.jobs[o.told]
			looked, gone := f.lookedFor(j, o.at, lookups[j.id])
			if !looked {
				continue
			}
			t.saw(1)
			if gone != 0 {
				t.violated(Finding{
					Sentence: fmt.Sprintf("Job %s was acknowledged with %d and is gone.", j.id, o.status),
					Expected: "an acknowledged job survives", Found: "no such job",
					Owner: k.owner, Key: k.name, Job: j.id,
				}, o.from, o.at, gone)
				break
			}
		}
	}
	droppedClick(f, t)
	neverTried(f, t)
	for _, j := range f.jobOrder {
		lostAttempt(j, t)
		lostOutcome(j, t)
	}
}

// droppedClick finds a submit that was seen being stored and of which a later
// complete read shows no job: whoever sent it went away, and took it along.
func droppedClick(f *facts, t *tally) {
	for _, taken := range f.taken {
		if taken.key == nil {
			continue
		}
		for i := len(f.reads) - 1; i >= 0; i-- {
			r := f.reads[i]
			if r.table != history.TableJobs || r.from < taken.n || !r.covers(taken.key.owner) {
				continue
			}
			t.saw(1)
			if len(taken.key.jobs) == 0 {
				t.violated(Finding{
					Sentence: fmt.Sprintf("A submit with key %s was being stored, and there is no job.", taken.key.name),
					Expected: "what the target took is carried out, also when the client goes away", Found: "no such job",
					Owner: taken.key.owner, Key: taken.key.name,
				}, taken.n, r.at)
			}
			break
		}
	}
}

// neverTried finds a job that was acknowledged, is still wanted, and has no
// attempt in a complete read of the audit: it was stored by half.
func neverTried(f *facts, t *tally) {
	audit := f.phase(history.PhaseAudit)
	if audit.N == 0 {
		return
	}
	for _, k := range f.keyOrder {
		for _, o := range k.submits {
			j := f.jobs[o.told]
			if o.kind != history.OK || j == nil || j.attemptsRead < audit.N || len(j.attempts) > 0 || j.cancelledAt() != never {
				continue
			}
			t.violated(Finding{
				Sentence: fmt.Sprintf("Job %s was acknowledged with %d, and there is no attempt of it.", j.id, o.status),
				Expected: "a job is stored with its first attempt", Found: "no attempt", Owner: k.owner, Key: k.name, Job: j.id,
			}, o.from, o.at, j.attemptsRead)
			break
		}
	}
}

// lookups lists, by job, the reads by id or key that ended.
func (f *facts) lookups() map[string][]*operation {
	by := map[string][]*operation{}
	for _, o := range f.ops {
		if o.op == history.OpGet && o.on != "" && o.at != never {
			by[o.on] = append(by[o.on], o)
		}
	}
	return by
}

// lookedFor reports whether j was looked for after event n, and the event that
// shows it gone (0 if it was there each time).
func (f *facts) lookedFor(j *job, n int64, lookups []*operation) (looked bool, gone int64) {
	for _, s := range j.seen {
		if s.from > n {
			looked = true
			if s.absent {
				return true, s.at
			}
		}
	}
	for _, o := range lookups {
		if o.from > n && (j.key == nil || o.owner == j.key.owner) {
			switch {
			case o.kind == history.OK:
				looked = true
			case o.kind == history.Fail && (o.status == http.StatusNotFound || o.status == http.StatusGone):
				return true, o.at
			}
		}
	}
	if last, ok := f.lastRead(history.TableJobs, j); ok && last.from > n {
		looked = true
		if !j.inRead(last) {
			return true, last.at
		}
	}
	return looked, 0
}

// lastRead returns the last complete read of table that must show j.
func (f *facts) lastRead(table string, j *job) (tableRead, bool) {
	for i := len(f.reads) - 1; i >= 0; i-- {
		r := f.reads[i]
		if r.table == table && (j.key == nil || r.covers(j.key.owner)) {
			return r, true
		}
	}
	return tableRead{}, false
}

// inRead reports whether a row of j was shown by read r.
func (j *job) inRead(r tableRead) bool {
	for _, s := range j.seen {
		if s.row && !s.absent && s.from == r.from && s.at < r.at {
			return true
		}
	}
	return false
}

// lostAttempt finds an attempt whose start was acknowledged and that a later
// complete read does not show.
func lostAttempt(j *job, t *tally) {
	for _, v := range j.verbs {
		if v.op != history.OpStart || v.kind != history.OK || v.toldAttempt == "" || j.attemptsRead < v.at {
			continue
		}
		t.saw(1)
		shown := false
		for _, a := range j.attempts {
			if a.id != v.toldAttempt {
				continue
			}
			for _, s := range a.seen {
				shown = shown || s.from >= j.attemptsRead
			}
		}
		if !shown {
			t.violated(Finding{
				Sentence: fmt.Sprintf("Attempt %s of job %s was acknowledged and is gone.", v.toldAttempt, j.id),
				Expected: "an acknowledged attempt survives", Found: "no such attempt", Job: j.id, Attempt: v.toldAttempt,
			}, v.from, v.at, j.attemptsRead)
			return
		}
	}
}

// lostOutcome finds a job that was answered as ended and is open in a later
// sight of any kind.
func lostOutcome(j *job, t *tally) {
	var ended jobSeen
	for _, s := range j.seen {
		switch {
		case s.absent:
		case ended.at == 0 && s.ended() && !s.row:
			ended = s
		case ended.at != 0 && s.from > ended.at && !s.ended():
			t.violated(Finding{
				Sentence: fmt.Sprintf("Job %s was answered as ended, and later it is open.", j.id),
				Expected: "an acknowledged outcome survives", Found: firstOf(s.status, "open"), Job: j.id,
			}, ended.at, s.at)
			return
		}
	}
}
