package invariant

import (
	"fmt"
)

// forwardReads is I9. It compares what clients were shown, whichever process
// answered, in real time: a read that began after another had returned may not
// show less.
func forwardReads(f *facts, t *tally) {
	for _, j := range f.jobOrder {
		var newest jobSeen // of the reads that returned so far, the one that shows most
		var pending []jobSeen
		reads, broken := 0, false
		for _, s := range j.readsByStart() {
			// fold in what had returned before s began
			rest := pending[:0]
			for _, p := range pending {
				switch {
				case p.at >= s.from:
					rest = append(rest, p)
				case newest.at == 0 || p.version > newest.version || p.version == newest.version && p.ended():
					newest = p
				}
			}
			pending = append(rest, s)
			if newest.at == 0 {
				continue
			}
			reads++
			if !broken && (s.version < newest.version || newest.ended() && !s.ended()) {
				broken = true
				t.violated(Finding{
					Sentence: fmt.Sprintf("A read of job %s went backwards, from version %d to version %d.", j.id, newest.version, s.version),
					Expected: fmt.Sprintf("version %d or newer, %s", newest.version, firstOf(newest.status, "not older")),
					Found:    fmt.Sprintf("version %d, %s", s.version, firstOf(s.status, "older")), Job: j.id,
				}, newest.at, s.from, s.at)
			}
		}
		if reads > 0 {
			t.saw(1)
		}
		backwardAttempts(j, t)
	}
}

// readsByStart returns the answers (no rows) that show j's version, by the event
// at which they were asked for.
func (j *job) readsByStart() []jobSeen {
	var reads []jobSeen
	for _, s := range j.seen {
		if !s.row && !s.absent && s.version > 0 {
			reads = append(reads, s)
		}
	}
	sortBy(reads, func(s jobSeen) int64 { return s.from })
	return reads
}

// backwardAttempts finds an attempt that clients saw finished and later not.
func backwardAttempts(j *job, t *tally) {
	for _, a := range j.attempts {
		var done attemptSeen
		for _, s := range a.seen {
			switch {
			case s.row || s.state == "":
			case terminal(s.state) && done.at == 0:
				done = s
			case done.at != 0 && s.from > done.at && !terminal(s.state):
				t.violated(Finding{
					Sentence: fmt.Sprintf("A read of attempt %s went backwards, from %s to %s.", a.id, done.state, s.state),
					Expected: done.state, Found: s.state, Job: j.id, Attempt: a.id,
				}, done.at, s.from, s.at)
				return
			}
		}
	}
}
