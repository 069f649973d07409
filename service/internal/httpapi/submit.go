package httpapi

import (
	"errors"
	"net/http"

	"github.com/interlock-harness/interlock/service/internal/job"
)

// submit answers POST /v1/jobs: one job for one key of one owner.
//
// The order matters. Key and body are read before anything is looked up, and
// whether the key belongs to another input is decided by the store before
// anything about state. An input that cannot be carried out is refused without
// a row, so that it does not consume its key; but a key that names a job
// already answers for that job, even where its contract is no longer deployed.
func submit(s *Server, c *call) error {
	outcome, err := c.submit()
	if err != nil {
		outcome = problemOf(err).kind.suffix
	}
	s.metrics.Submitted(outcome)
	return err
}

func (c *call) submit() (outcome string, err error) {
	if _, err := c.query(); err != nil {
		return "", err
	}
	key, err := c.key()
	if err != nil {
		return "", err
	}
	wait, err := prefer(c.r.Header, c.s.limits.WaitTime)
	if err != nil {
		return "", err
	}
	if err := c.spend(); err != nil {
		return "", err
	}
	b, err := c.readJSON(false)
	if err != nil {
		c.s.faults.unread(c, key, err)
		return "", err
	}
	j, created, err := c.submitBody(key, b)
	if err != nil {
		return "", err
	}
	outcome, c.created = "new", created
	if !created {
		outcome = "replayed"
		c.w.Header().Set("Idempotency-Replayed", "true")
	}
	c.w.Header().Set("Location", "/v1/jobs/"+string(j.ID))
	if wait != nil {
		return outcome, c.waitAndAnswer(j, *wait)
	}
	status := http.StatusOK
	if created {
		status = http.StatusCreated
	}
	return outcome, c.answerJob(status, j)
}

// key reads the idempotency key and echoes it as it came.
func (c *call) key() (job.Key, error) {
	lines := c.r.Header.Values("Idempotency-Key")
	key, err := ParseKey(lines)
	if err != nil {
		return "", err
	}
	c.w.Header().Set("Idempotency-Key", lines[0])
	return key, nil
}

func (c *call) submitBody(key job.Key, b body) (job.Job, bool, error) {
	ctx, cancel := c.storeContext()
	defer cancel()
	intent, invalid := c.s.readIntent(b.raw)
	if invalid != nil {
		if _, err := c.s.store.JobByKey(ctx, c.who.Owner, key); errors.Is(err, job.ErrNotFound) {
			return job.Job{}, false, invalid
		} else if err != nil {
			return job.Job{}, false, err
		}
		// The key is taken: what follows can only replay or refuse.
	}
	submission := job.Submission{
		Owner:                c.who.Owner,
		Key:                  key,
		Fingerprint:          Fingerprint(http.MethodPost, "/v1/jobs", "", "application/json", b.canonical),
		FingerprintAlgorithm: FingerprintV1,
		RawBody:              b.raw,
		Intent:               intent,
	}
	c.s.faults.leave(c)
	if err := c.s.faults.remembered(c, key); err != nil {
		return job.Job{}, false, err
	}
	c.s.faults.submission(c, &submission, b)
	j, created, err := c.s.store.Submit(ctx, submission)
	c.s.faults.submitted(c, key, err)
	return j, created, err
}

// answerJob writes a job with its tag and identity.
func (c *call) answerJob(status int, j job.Job) error {
	h := c.w.Header()
	h.Set("X-Job-Id", string(j.ID))
	h.Set("Etag", etag(j.Version, j.LastEvent))
	return c.answer(status, shapeJob(j))
}
