package interleave

import (
	"errors"
	"slices"
	"strings"

	"github.com/interlock-harness/interlock/service/internal/job"
)

// leases is I7 for a worker that is slow but alive: who was told that its lease
// is renewed loses the attempt to no reaper, which looks no sooner than that.
func (c *checker) leases() {
	for _, o := range c.outcomes {
		if o.tx != Heartbeat || !slices.Contains(o.renewed, o.target.ID) {
			continue
		}
		if slices.ContainsFunc(c.left.Events, func(e leftEvent) bool { return e.Attempt == string(o.target.ID) && e.Actor == "reaper" }) {
			c.broke("I7", "%s was told that its lease is renewed, and a reaper took the attempt after that", o.name())
		}
	}
}

// fenced is I4 for who settles an attempt with a fence that is not its own. Only
// behind the end of the job may its late answer be recorded.
func (c *checker) fenced() {
	for _, e := range c.left.Events {
		if strings.HasPrefix(e.Actor, "stale-") && e.To != string(job.StateLost) {
			c.broke("I4", "%s settled an attempt with a fence that is not its own: %s %s", e.Actor, e.Type, e.To)
		}
	}
}

// apart is I11: to another owner the job does not exist.
func (c *checker) apart() {
	for _, o := range c.outcomes {
		if o.tx == StrangerStart && !errors.Is(o.err, job.ErrNotFound) {
			c.broke("I11", "%s, of another owner, was answered about the job: %v", o.name(), o.err)
		}
	}
}

// oneClick is I1: a click is one attempt, whoever sends it again. And the owner's
// next job is one of its own.
func (c *checker) oneClick() {
	var first job.AttemptID
	created := 0
	for _, o := range c.outcomes {
		switch {
		case o.err != nil:
		case o.tx == Retry && first != "" && o.attempt.ID != first:
			c.broke("I1", "%s was given another attempt for the same click", o.name())
		case o.tx == Retry:
			first = o.attempt.ID
		case o.tx == SubmitNext:
			if o.created {
				created++
			}
			if o.job.Key != nextSubmission(c.w).Key || created > 1 {
				c.broke("I1", "%s was given the job of another key, or made one twice", o.name())
			}
		}
	}
}
