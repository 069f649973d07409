package httpapi

import (
	"context"
	"net/http"

	"github.com/interlock-harness/interlock/service/internal/job"
)

// move reads what all verbs have in common: the job, where there is one the
// attempt, the condition and the reason. The object is returned for the rest.
func (c *call) move(reasonNeeded bool) (job.Move, *fields, error) {
	id, err := c.jobID()
	if err != nil {
		return job.Move{}, nil, err
	}
	m := job.Move{Owner: c.who.scope(), Job: id, Actor: c.who.actor()}
	if _, ok := c.params["n"]; ok {
		if m.N, err = c.attemptNumber(); err != nil {
			return job.Move{}, nil, err
		}
	}
	if _, err := c.query(); err != nil {
		return job.Move{}, nil, err
	}
	if m.Match, err = ifMatch(c.r.Header); err != nil {
		return job.Move{}, nil, err
	}
	b, err := c.readJSON(!reasonNeeded)
	if err != nil {
		return job.Move{}, nil, err
	}
	f := object(b.raw, "")
	m.Reason = f.text("reason", reasonNeeded, maxReason)
	return m, f, nil
}

// operate carries out a verb that takes a reason and nothing else.
func (c *call) operate(verb func(context.Context, job.Move) (job.Attempt, error)) error {
	m, f, err := c.move(true)
	if err != nil {
		return err
	}
	if err := f.rest(); err != nil {
		return err
	}
	ctx, cancel := c.storeContext()
	defer cancel()
	a, err := verb(ctx, m)
	if err != nil {
		return err
	}
	c.log.Info("operator", "actor", m.Actor, "job_id", m.Job, "attempt_id", a.ID, "n", m.N, "state", a.State)
	return c.answerAttempt(http.StatusOK, a)
}

// brief keeps the text of a judge to one printable line.
func brief(err error) string {
	text := err.Error()
	clean := make([]rune, 0, len(text))
	for _, r := range text {
		if r < ' ' || r == 0x7f || r > 0x7e {
			r = '?'
		}
		if clean = append(clean, r); len(clean) == 200 {
			return string(clean) + "..."
		}
	}
	return string(clean)
}
