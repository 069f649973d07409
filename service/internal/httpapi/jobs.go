package httpapi

import (
	"strconv"

	"github.com/interlock-harness/interlock/service/internal/job"
)

// Pages hold 20 rows where the client does not say, and at most 100.
const (
	standardPage = 20
	longestPage  = 100
)

// getJob answers GET /v1/jobs/{id}.
func getJob(s *Server, c *call) error {
	id, err := c.jobID()
	if err != nil {
		return err
	}
	if _, err := c.query(); err != nil {
		return err
	}
	j, err := c.readJob(c.who.scope(), id)
	if err != nil {
		return err
	}
	c.s.faults.cache(c, &j)
	c.w.Header().Set("X-Job-Id", string(j.ID))
	return c.cached(etag(j.Version, j.LastEvent), shapeJob(j))
}

type jobList struct {
	Jobs []jobBody `json:"jobs"`
	Next string    `json:"next,omitempty"` // cursor of the next page; absent on the last
}

// listJobs answers GET /v1/jobs: the caller's own jobs, newest first and without
// their results, or with ?key= the one of that key as a whole.
func listJobs(s *Server, c *call) error {
	q, err := c.query("key", "status", "limit", "after")
	if err != nil {
		return err
	}
	if key, ok := q["key"]; ok {
		if len(q) > 1 {
			return refuse(queryInvalid, "key stands alone")
		}
		if !isKey(key) {
			return refuse(queryInvalid, "key is an idempotency key, percent-encoded")
		}
		return c.jobOfKey(job.Key(key))
	}
	f := job.Filter{Status: job.Status(q["status"])}
	if f.Limit, err = pageLimit(q); err != nil {
		return err
	}
	if !knownStatus(f.Status) {
		return refuse(queryInvalid, "status is open, starting, running, unknown, succeeded, failed or cancelled")
	}
	if after, ok := q["after"]; ok {
		if f.After, err = ParseCursor(c.who.Owner, f.Status, after); err != nil {
			return err
		}
	}
	return c.listJobs(f)
}

func (c *call) listJobs(f job.Filter) error {
	ctx, cancel := c.storeContext()
	defer cancel()
	limit := f.Limit
	f.Limit++ // one more tells whether there is a next page
	jobs, err := c.s.store.Jobs(ctx, c.who.Owner, f)
	if err != nil {
		return err
	}
	list := jobList{}
	if len(jobs) > limit {
		jobs = jobs[:limit]
		list.Next = Cursor(c.who.Owner, f.Status, jobs[limit-1].ID)
	}
	list.Jobs = shapeAll(jobs, shapeJob)
	return c.cachedByContent(list)
}

func (c *call) jobOfKey(key job.Key) error {
	ctx, cancel := c.storeContext()
	defer cancel()
	j, err := c.s.store.JobByKey(ctx, c.who.Owner, key)
	if err != nil {
		return err
	}
	c.w.Header().Set("X-Job-Id", string(j.ID))
	return c.cached(etag(j.Version, j.LastEvent), jobList{Jobs: []jobBody{shapeJob(j)}})
}

func pageLimit(q map[string]string) (int, error) {
	text, ok := q["limit"]
	if !ok {
		return standardPage, nil
	}
	n, ok := positive(text)
	if !ok || n > longestPage {
		return 0, refuse(queryInvalid, "limit is 1 to "+strconv.Itoa(longestPage))
	}
	return int(n), nil
}

func knownStatus(s job.Status) bool {
	switch s {
	case "", job.StatusOpen, job.StatusStarting, job.StatusRunning, job.StatusUnknown,
		job.StatusSucceeded, job.StatusFailed, job.StatusCancelled:
		return true
	}
	return false
}
