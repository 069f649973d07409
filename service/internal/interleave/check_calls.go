package interleave

import (
	"errors"
	"slices"

	"github.com/interlock-harness/interlock/service/internal/job"
)

// races is I6: each late result has exactly one race row, the winner has none.
func (c *checker) races(j leftJob) {
	late := map[string]bool{}
	for _, o := range c.outcomes {
		if o.tx == Complete && errors.Is(o.err, job.ErrLate) || o.tx == Resolve && o.err == nil && o.attempt.State == job.StateLost {
			late[string(o.target.ID)] = true
		}
	}
	rows := map[string]int{}
	resolved := false // an operator said how it ended, and its own answer came after that
	for _, a := range c.attemptsOf(j) {
		for _, r := range c.left.Races {
			if r.Attempt == a.ID {
				rows[a.ID]++
				resolved = resolved || r.Reason == "attempt-resolved"
				nobodyYet := r.Winner == "" && a.State != string(job.StateLost) // it was fenced, and came back before anybody won
				if r.Winner != j.CompletedBy && !nobodyYet {
					c.broke("I6", "the race of attempt %d names another winner than the job", a.N)
				}
			}
		}
		switch {
		case rows[a.ID] > 1:
			c.broke("I6", "attempt %d has %d race records", a.N, rows[a.ID])
		case rows[a.ID] == 1 && a.ID == j.CompletedBy && !resolved:
			c.broke("I6", "the winner, attempt %d, has a race record", a.N)
		case rows[a.ID] == 0 && (late[a.ID] || a.State == string(job.StateLost)):
			c.broke("I6", "the result of attempt %d came too late, and no race record tells of it", a.N)
		}
	}
}

// acknowledged is I8 and I15: what a call was told is what happened.
func (c *checker) acknowledged() {
	told := func(o outcome, to job.State) bool {
		return slices.ContainsFunc(c.left.Events, func(e leftEvent) bool {
			return e.Actor == o.actor() && e.Attempt == string(o.target.ID) && e.To == string(to)
		})
	}
	for _, o := range c.outcomes {
		if o.err != nil {
			continue
		}
		switch o.tx {
		case Complete:
			if j := c.job(); j == nil || j.CompletedBy != string(o.target.ID) {
				c.broke("I5", "%s was told that it won, and it did not", o.name())
			}
		case Start, Retry:
			if !slices.ContainsFunc(c.left.Attempts, func(a leftAttempt) bool { return a.ID == string(o.attempt.ID) }) {
				c.broke("I8", "%s was told of an attempt that is not there", o.name())
			}
		case CancelJob:
			if j := c.job(); j == nil || !j.Cancelled {
				c.broke("I15", "%s was told that the job is cancelled, and it is not", o.name())
			}
		case CancelAttempt:
			if !told(o, job.StateCancelled) {
				c.broke("I15", "%s was told that the attempt is cancelled, and no event says so", o.name())
			}
		case Release:
			if !told(o, job.StateReleased) {
				c.broke("I8", "%s was told that the attempt is released, and no event says so", o.name())
			}
		case Fail:
			if !told(o, job.StateFailed) {
				c.broke("I8", "%s was told that the attempt has failed, and no event says so", o.name())
			}
		case MarkUnknown:
			if o.state != job.StateUnknown && o.state != job.StateReleased {
				c.broke("I4", "%s was told that the attempt is %s", o.name(), o.state)
			}
		case Resolve:
			if o.attempt.ID != o.target.ID || !told(o, o.attempt.State) {
				c.broke("I8", "%s was told of a state, %s, that no event of its own says", o.name(), o.attempt.State)
			}
		}
	}
}

// job is the job of the schedule, nil when there is not exactly one.
func (c *checker) job() *leftJob {
	if len(c.mine) != 1 {
		return nil
	}
	return &c.mine[0]
}

// claims is I7: an attempt is handed to one worker, whose name its row keeps.
func (c *checker) claims() {
	holder := map[job.AttemptID]string{}
	for _, o := range c.outcomes {
		for _, claimed := range o.claimed {
			id := claimed.Attempt.ID
			if other, taken := holder[id]; taken {
				c.broke("I7", "%s and %s hold one attempt: both would call the provider", other, o.name())
			}
			holder[id] = o.name()
			i := slices.IndexFunc(c.left.Attempts, func(a leftAttempt) bool { return a.ID == string(id) })
			if i < 0 || c.left.Attempts[i].Worker != o.actor() {
				c.broke("I7", "%s holds an attempt whose row names another worker", o.name())
			}
		}
	}
	for _, a := range c.left.Attempts {
		if a.Worker != "" && a.State == string(job.StateStarting) {
			c.broke("I7", "attempt %d was claimed and waits to be sent again", a.N)
		}
	}
}
