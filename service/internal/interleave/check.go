package interleave

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/interlock-harness/interlock/service/internal/job"
)

// Violation is a promise that a schedule broke.
type Violation struct {
	Invariant string   `json:"invariant"`
	Sentence  string   `json:"sentence"`
	Schedule  string   `json:"schedule"` // replays it
	Steps     []string `json:"steps"`
}

// checker judges one schedule by its rows and by what the calls returned.
type checker struct {
	w        *world
	left     left
	outcomes []outcome
	mine     []leftJob // jobs of the owner under the key
	found    []Violation
}

// check judges what a schedule left. The rules are the promises of the store,
// named like the invariants of the harness.
func check(w *world, l left, r *played) []Violation {
	c := &checker{w: w, left: l, outcomes: r.outcomes}
	for _, j := range l.Jobs {
		if j.Owner == string(owner) && j.Key == string(w.key) {
			c.mine = append(c.mine, j)
		}
	}
	c.returned(r)
	c.oneJob()
	for _, j := range l.Jobs {
		c.openAttempts(j)
		c.moves(j)
		c.winner(j)
		c.races(j)
		c.untouched(j)
	}
	c.acknowledged()
	c.claims()
	c.leases()
	c.fenced()
	c.apart()
	c.oneClick()
	return c.found
}

func (c *checker) broke(invariant, format string, args ...any) {
	c.found = append(c.found, Violation{Invariant: invariant, Sentence: fmt.Sprintf(format, args...)})
}

// refusals are the answers by which each transaction may decline.
var refusals = []error{job.ErrLate, job.ErrTerminal, job.ErrAttemptTerminal, job.ErrNotReleasable, job.ErrNotUnknown, job.ErrNotFound}

// returned looks for answers that no promise allows. Nothing breaks in a
// schedule, so the store has no reason to be unavailable or to run into itself.
func (c *checker) returned(r *played) {
	if r.deadlocks > 0 {
		c.broke("I10", "two transactions waited for each other until PostgreSQL ended one: somebody locks an attempt before its job")
	}
	for i, o := range c.outcomes {
		var inFlight *job.InFlightError
		switch {
		case o.err == nil:
		case o.tx == StaleComplete || o.tx == StaleFail || o.tx == StaleUnknown: // any refusal will do: fenced looks what it did
		case errors.As(o.err, &inFlight) && (o.tx == Start || o.tx == Retry):
			if !inFlight.State.Open() && r.undisturbed(i) {
				c.broke("I3", "%s was refused for an attempt that is %s, and blocks nobody", o.name(), inFlight.State)
			}
		case o.tx == Submit || o.tx == SubmitNext:
			var conflict *job.KeyConflictError
			switch {
			case errors.As(o.err, &conflict) && o.tx == SubmitNext:
				c.broke("I1", "%s was refused for another key of its owner", o.name())
			case errors.As(o.err, &conflict):
				c.broke("I11", "%s was refused for the key of another owner's job", o.name())
			default:
				c.broke("I13", "%s returned an error that nothing explains: %v", o.name(), o.err)
			}
		case !slices.ContainsFunc(refusals, func(e error) bool { return errors.Is(o.err, e) }) || o.tx == Claim || o.tx == Reap || o.tx == Heartbeat:
			c.broke("I13", "%s returned an error that nothing explains: %v", o.name(), o.err)
		}
	}
}

// undisturbed reports whether nobody else committed between the first and the
// last statement of session i.
func (p *played) undisturbed(i int) bool {
	first := slices.IndexFunc(p.steps, func(s step) bool { return s.session == i })
	last := len(p.steps) - 1
	for p.steps[last].session != i {
		last--
	}
	return !slices.ContainsFunc(p.steps[first:last], func(s step) bool { return s.session != i && s.class == commit })
}

// oneJob is I1: one job of an owner's key, and every submit of it gets that one.
func (c *checker) oneJob() {
	if len(c.mine) > 1 {
		c.broke("I1", "there are %d jobs of one key", len(c.mine))
	}
	created := map[job.Owner]int{}
	for _, o := range c.outcomes {
		if o.tx != Submit || o.err != nil {
			continue
		}
		who := submission(c.w, o.nth).Owner
		if o.created {
			created[who]++
		}
		if o.job.Attempts == 0 {
			c.broke("I8", "%s got a job without an attempt: half of it is stored", o.name())
		}
		if !slices.ContainsFunc(c.left.Jobs, func(j leftJob) bool {
			return j.ID == string(o.job.ID) && j.Owner == string(who) && j.Key == string(c.w.key)
		}) {
			c.broke("I11", "%s got a job that is not its owner's", o.name())
		}
	}
	for who, n := range created {
		if n > 1 || who == owner && c.w.job != "" {
			c.broke("I1", "a submit of %s was told that it made a job that was there", who)
		}
	}
	for _, j := range c.left.Jobs {
		if len(c.attemptsOf(j)) == 0 {
			c.broke("I10", "job of %s has no attempt", j.Owner)
		}
	}
}

func (c *checker) attemptsOf(j leftJob) []leftAttempt {
	var own []leftAttempt
	for _, a := range c.left.Attempts {
		if a.Job == j.ID {
			own = append(own, a)
		}
	}
	return own
}

// openAttempts is I3: at most one open attempt, after every transaction.
func (c *checker) openAttempts(j leftJob) {
	states := c.beginning(j)
	most := func(when string) {
		open := 0
		for _, s := range states {
			if s.Open() {
				open++
			}
		}
		if open > 1 {
			c.broke("I3", "%d attempts are open at once %s", open, when)
		}
	}
	for i, e := range c.left.Events {
		if e.Job != j.ID || e.Attempt == "" || e.Type != string(job.EventAttemptMoved) {
			continue
		}
		states[e.Attempt] = job.State(e.To)
		if next := i + 1; next == len(c.left.Events) || c.left.Events[next].Operation != e.Operation {
			most("after a move by " + e.Actor)
		}
	}
	states = map[string]job.State{}
	for _, a := range c.attemptsOf(j) {
		states[a.ID] = job.State(a.State)
	}
	most("in the end")
}

// beginning is the state of the job's attempts in the situation.
func (c *checker) beginning(j leftJob) map[string]job.State {
	states := map[string]job.State{}
	if j.ID == string(c.w.job) {
		for _, a := range c.w.attempts {
			states[string(a.ID)] = a.State
		}
	}
	return states
}

// legal lists the moves that there are.
var legal = map[job.State][]job.State{
	"":                 {job.StateStarting},
	job.StateStarting:  {job.StateRunning, job.StateFailed, job.StateCancelled},
	job.StateRunning:   {job.StateSucceeded, job.StateFailed, job.StateUnknown, job.StateReleased, job.StateLost, job.StateCancelled},
	job.StateUnknown:   {job.StateSucceeded, job.StateFailed, job.StateReleased, job.StateLost, job.StateCancelled},
	job.StateReleased:  {job.StateSucceeded, job.StateFailed, job.StateLost, job.StateCancelled},
	job.StateSucceeded: nil, job.StateLost: nil, job.StateFailed: nil, job.StateCancelled: nil,
}

// moves is I4: only legal moves, each told by an event that begins where the one
// before ended; and nobody fails an attempt but by evidence.
func (c *checker) moves(j leftJob) {
	states := c.beginning(j)
	for _, e := range c.left.Events {
		if e.Job != j.ID || e.Type != string(job.EventAttemptMoved) {
			continue
		}
		from, to := job.State(e.From), job.State(e.To)
		switch {
		case states[e.Attempt] != from:
			c.broke("I4", "%s moved an attempt from %s, and it was %s", e.Actor, word(from), word(states[e.Attempt]))
		case !slices.Contains(legal[from], to):
			c.broke("I4", "%s moved an attempt from %s to %s", e.Actor, word(from), to)
		case to == job.StateFailed && !strings.HasPrefix(e.Actor, string(Resolve)) && !strings.HasPrefix(e.Actor, string(Fail)):
			c.broke("I4", "%s failed an attempt without evidence", e.Actor)
		}
		states[e.Attempt] = to
	}
	for _, a := range c.attemptsOf(j) {
		if states[a.ID] != job.State(a.State) {
			c.broke("I4", "attempt %d is %s, and its last event says %s", a.N, a.State, word(states[a.ID]))
		}
	}
}

func word(s job.State) string {
	if s == "" {
		return "nothing"
	}
	return string(s)
}

// winner is I5 and I15: one attempt succeeded, its result is the job's, and a
// cancelled job has none.
func (c *checker) winner(j leftJob) {
	var won []leftAttempt
	for _, a := range c.attemptsOf(j) {
		if a.State == string(job.StateSucceeded) {
			won = append(won, a)
		}
	}
	told := 0
	for _, e := range c.left.Events {
		if e.Job == j.ID && e.Type == string(job.EventJobSucceeded) {
			told++
		}
	}
	cancelled := slices.ContainsFunc(c.left.Events, func(e leftEvent) bool { return e.Job == j.ID && e.Type == string(job.EventJobCancelled) })
	switch {
	case j.CompletedBy == "" && len(won)+told > 0:
		c.broke("I5", "the job has no winner, but %d attempts succeeded and %d events say so", len(won), told)
	case j.CompletedBy != "" && (len(won) != 1 || told != 1 || won[0].ID != j.CompletedBy):
		c.broke("I5", "the job has a winner, but %d attempts succeeded and %d events say so", len(won), told)
	case j.CompletedBy != "" && string(j.Result) != string(result(job.Attempt{N: won[0].N})):
		c.broke("I5", "the stored result is %s, not that of attempt %d", j.Result, won[0].N)
	case j.CompletedBy != "" && (j.Cancelled || cancelled):
		c.broke("I15", "the job is both completed and cancelled")
	case j.Cancelled != cancelled:
		c.broke("I15", "the job's cancel and its events disagree")
	}
	want := int64(1)
	if j.CompletedBy != "" || j.Cancelled {
		want = 2
	}
	if j.Version != want {
		c.broke("I5", "the job is at version %d, and %d would be right", j.Version, want)
	}
}

// untouched is I16: while a job has no outcome nobody writes its row.
func (c *checker) untouched(j leftJob) {
	if j.ID == string(c.w.job) && j.CompletedBy == "" && !j.Cancelled && j.Xmin != c.w.xmin {
		c.broke("I16", "the row of the job was written although it has no outcome")
	}
}
