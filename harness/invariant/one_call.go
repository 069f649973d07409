package invariant

import "fmt"

// oneCall is I7.
func oneCall(f *facts, t *tally) {
	t.saw(len(f.calls))
	for _, c := range f.calls {
		if c.attempt == "" {
			t.violated(Finding{
				Sentence: fmt.Sprintf("Provider %s was called without naming an attempt.", c.provider),
				Expected: "X-Attempt-Id on every call", Found: "none", Job: c.job,
			}, c.arrived)
		}
	}
	tooSoon(f, t)
	unproven(f, t)
	for _, j := range f.jobOrder {
		for _, a := range j.attempts {
			callsOf(f, j, a, t)
		}
	}
}

// unproven finds a call that got to a provider whose certificate was bad.
func unproven(f *facts, t *tally) {
	for _, fault := range f.faults {
		for _, c := range f.calls {
			if fault.unproven == "" || c.provider != fault.unproven || c.arrived < fault.armed || c.arrived > fault.healed {
				continue
			}
			t.violated(Finding{
				Sentence: fmt.Sprintf("Attempt %s was sent to %s, which could not prove that it is %s.", c.attempt, c.provider, c.provider),
				Expected: "no byte of a request before the provider's certificate was checked", Found: "called", Job: c.job, Attempt: c.attempt,
			}, fault.armed, c.arrived)
		}
	}
}

// tooSoon finds a call of a job to a provider that had asked, in its last answer
// to that job, to be left alone for longer.
func tooSoon(f *facts, t *tally) {
	type at struct{ job, provider string }
	last := map[at]*call{}
	for _, c := range f.calls {
		k := at{c.job, c.provider}
		if before := last[k]; before != nil && before.answered != 0 && before.answered < c.arrived && c.atUS < before.notBeforeUS {
			t.violated(Finding{
				Sentence: fmt.Sprintf("Provider %s was called again %d ms before the time that it had asked for.", c.provider, (before.notBeforeUS-c.atUS)/1000),
				Expected: "no call before its Retry-After has passed", Found: "called", Job: c.job, Attempt: c.attempt,
			}, before.answered, c.arrived)
		}
		last[k] = c
	}
}

func callsOf(f *facts, j *job, a *attempt, t *tally) {
	if len(a.calls) == 0 {
		return
	}
	if len(a.calls) > 1 {
		t.violated(Finding{
			Sentence: fmt.Sprintf("Attempt %s was sent to a provider %d times.", a.id, len(a.calls)),
			Expected: "one call for one attempt", Found: fmt.Sprintf("%d calls", len(a.calls)), Job: j.id, Attempt: a.id,
		}, arrivals(a)...)
		return
	}
	first := a.calls[0]
	if first.job != "" && first.job != j.id {
		t.violated(Finding{
			Sentence: fmt.Sprintf("The call of attempt %s names job %s, but the attempt belongs to job %s.", a.id, first.job, j.id),
			Expected: j.id, Found: first.job, Job: j.id, Attempt: a.id,
		}, first.arrived)
	}
	if a.provider != "" && a.provider != a.calls[0].provider {
		t.violated(Finding{
			Sentence: fmt.Sprintf("Attempt %s is for %s, but %s was called.", a.id, a.provider, a.calls[0].provider),
			Expected: a.provider, Found: a.calls[0].provider, Job: j.id, Attempt: a.id,
		}, first.arrived)
	}
	committedBefore(f, j, a, first, t)
}

func arrivals(a *attempt) []int64 {
	var events []int64
	for _, c := range a.calls {
		events = append(events, c.arrived)
	}
	return events
}

// committedBefore finds a call whose attempt was not in the database when it
// arrived, or is in no read that began after it.
func committedBefore(f *facts, j *job, a *attempt, first *call, t *tally) {
	shown := false
	for _, s := range a.seen {
		if s.absent && s.from > first.arrived {
			t.violated(Finding{
				Sentence: fmt.Sprintf("The call of attempt %s arrived before its row was committed.", a.id),
				Expected: "the attempt committed before the first byte leaves", Found: "no such row", Job: j.id, Attempt: a.id,
			}, first.arrived, s.at)
			return
		}
		// A starting attempt has sent nothing; if it is still so after the call
		// arrived, the call left before the claim was committed.
		if s.row && s.state == "starting" && s.from > first.arrived {
			t.violated(Finding{
				Sentence: fmt.Sprintf("The call of attempt %s arrived while its row still said starting.", a.id),
				Expected: "running, committed before the first byte leaves", Found: "starting", Job: j.id, Attempt: a.id,
			}, first.arrived, s.at)
			return
		}
		shown = shown || !s.absent
	}
	if !shown && len(a.moves) == 0 && j.attemptsRead > first.arrived {
		t.violated(Finding{
			Sentence: fmt.Sprintf("Provider %s was called for attempt %s, which does not exist.", a.calls[0].provider, a.id),
			Expected: "an attempt row for every call", Found: "no such attempt", Job: j.id, Attempt: a.id,
		}, first.arrived, j.attemptsRead)
	}
}
