package httpapi

import (
	"encoding/json"
	"net/http"

	"github.com/interlock-harness/interlock/service/internal/job"
	"github.com/interlock-harness/interlock/service/internal/mutant"
)

// maxReason is the longest reason or evidence, in bytes.
const maxReason = 2000

type attemptList struct {
	Attempts []attemptBody `json:"attempts"`
}

// listAttempts answers GET /v1/jobs/{id}/attempts, oldest first.
func listAttempts(s *Server, c *call) error {
	id, err := c.jobID()
	if err != nil {
		return err
	}
	if _, err := c.query(); err != nil {
		return err
	}
	ctx, cancel := c.storeContext()
	defer cancel()
	attempts, err := s.store.Attempts(ctx, c.who.scope(), id)
	if err != nil {
		return err
	}
	c.w.Header().Set("X-Job-Id", string(id))
	return c.cachedByContent(attemptList{Attempts: shapeAll(attempts, shapeAttempt)})
}

// startAttempt answers POST /v1/jobs/{id}/attempts. The click that asks for it
// is an intent of its own, so it carries its own key, whose scope is the job.
func startAttempt(s *Server, c *call) error {
	id, err := c.jobID()
	if err != nil {
		return err
	}
	if _, err := c.query(); err != nil {
		return err
	}
	key, err := c.key()
	if err != nil {
		return err
	}
	match, err := ifMatch(c.r.Header)
	if err != nil {
		return err
	}
	if err := c.spend(); err != nil {
		return err
	}
	b, err := c.readJSON(true)
	if err != nil {
		return err
	}
	f := object(b.raw, "")
	provider := f.text("provider", false, 64)
	if provider != "" && !s.providers.Known(provider) {
		f.fail("provider", "provider "+quoted(provider)+" is not known")
	}
	if err := f.rest(); err != nil {
		return err
	}
	start := job.Start{
		Owner: c.who.scope(), Job: id, Provider: provider, Match: match, Actor: c.who.actor(), TriggerKey: key,
		TriggerFingerprint: Fingerprint(http.MethodPost, "/v1/jobs/"+string(id)+"/attempts", "", "application/json", b.canonical),
	}
	if s.mutant.Is(mutant.TriggerKeyIgnored) {
		start.TriggerKey = ""
	}
	return c.start(start)
}

func (c *call) start(start job.Start) error {
	ctx, cancel := c.storeContext()
	defer cancel()
	a, replayed, err := c.s.store.StartAttempt(ctx, start)
	if err != nil {
		return err
	}
	if replayed {
		c.w.Header().Set("Idempotency-Replayed", "true")
	}
	c.w.Header().Set("Location", "/v1/jobs/"+string(start.Job)+"/attempts")
	return c.answerAttempt(http.StatusAccepted, a)
}

func (c *call) answerAttempt(status int, a job.Attempt) error {
	c.w.Header().Set("X-Job-Id", string(a.JobID))
	c.w.Header().Set("X-Attempt-Id", string(a.ID))
	return c.answer(status, shapeAttempt(a))
}

// cancelJob answers POST /v1/jobs/{id}/cancel. A reason is welcome, not needed:
// the job is the owner's.
func cancelJob(s *Server, c *call) error {
	move, f, err := c.move(false)
	if err != nil {
		return err
	}
	if err := f.rest(); err != nil {
		return err
	}
	ctx, cancel := c.storeContext()
	defer cancel()
	j, err := s.store.CancelJob(ctx, move)
	if err != nil {
		return err
	}
	return c.answerJob(http.StatusOK, j)
}

// cancelAttempt and releaseAttempt answer the operator's verbs of those names.
func cancelAttempt(s *Server, c *call) error  { return c.operate(s.store.CancelAttempt) }
func releaseAttempt(s *Server, c *call) error { return c.operate(s.store.ReleaseAttempt) }

// resolveAttempt answers POST /v1/jobs/{id}/attempts/{n}/resolve. A result is
// judged by the job's contract like any provider's.
func resolveAttempt(s *Server, c *call) error {
	move, f, err := c.move(true)
	if err != nil {
		return err
	}
	r := job.Resolution{Move: move, Outcome: job.Outcome(f.text("outcome", true, 16)), Evidence: f.text("evidence", true, maxReason)}
	result, given := f.take("result")
	switch {
	case r.Outcome != job.OutcomeSucceeded && r.Outcome != job.OutcomeFailed:
		f.fail("outcome", "succeeded or failed is wanted")
	case given != (r.Outcome == job.OutcomeSucceeded):
		f.fail("result", "a result comes with succeeded, and only then")
	}
	if err := f.rest(); err != nil {
		return err
	}
	if r.Result = result; given {
		if err := c.judge(move, result); err != nil {
			return err
		}
	}
	ctx, cancel := c.storeContext()
	defer cancel()
	a, err := s.store.ResolveAttempt(ctx, r)
	if err != nil {
		return err
	}
	return c.answerAttempt(http.StatusOK, a)
}

func (c *call) judge(m job.Move, result json.RawMessage) error {
	j, err := c.readJob(m.Owner, m.Job)
	if err != nil {
		return err
	}
	if err := c.s.contracts.CheckResult(j.Intent.Contract, j.Intent.Input, result); err != nil {
		return &refusal{kind: resultInvalid, pointer: "/result", jobID: j.ID, detail: brief(err)}
	}
	return nil
}
