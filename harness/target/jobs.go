package target

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"

	"github.com/interlock-harness/interlock/harness/history"
)

// ServedBy is the header in which the harness's balancer names the replica
// that answered.
const ServedBy = "X-Served-By"

// Intent is what an owner wants.
type Intent struct {
	Contract   string         `json:"contract"`
	Provider   string         `json:"provider"`
	Input      any            `json:"input"`
	Params     map[string]any `json:"params,omitempty"`
	Failover   *Failover      `json:"failover,omitempty"`
	Race       bool           `json:"race,omitempty"`
	DeadlineMS int64          `json:"deadline_ms,omitempty"`
}

// Failover is what may happen by itself after a definite failure.
type Failover struct {
	Mode      string   `json:"mode"` // manual, automatic
	Providers []string `json:"providers,omitempty"`
}

// Job is a job as an answer shows it, with that answer.
type Job struct {
	history.Job
	Attempts int    `json:"attempts"`
	Answer   Answer `json:"-"`
}

// Terminal says whether the job's status will not change any more.
func (j Job) Terminal() bool { return j.Status == "succeeded" || j.Status == "cancelled" }

// Option changes one call.
type Option func(*call)

// Header sets a header of the call.
func Header(name, value string) Option {
	return func(c *call) { c.header.Add(name, value) }
}

// Wait asks the target to answer a submit only when the job is over, or after
// so many seconds.
func Wait(seconds int) Option { return Header("Prefer", fmt.Sprintf("wait=%d", seconds)) }

// IfMatch makes a call conditional on the version that the caller has seen.
func IfMatch(etag string) Option { return Header("If-Match", etag) }

// Submit hands in intent under an idempotency key.
func (c *Client) Submit(ctx context.Context, key string, intent Intent, options ...Option) (Job, error) {
	text, err := json.Marshal(intent)
	if err != nil {
		return Job{}, fmt.Errorf("submit: %w", err)
	}
	return c.SubmitBody(ctx, key, c.a.submit(text), text, options...)
}

// SubmitBody is Submit with a body byte for byte. intent is the value that
// the body means, for the history; nil when it means none.
func (c *Client) SubmitBody(ctx context.Context, key string, body, intent []byte, options ...Option) (Job, error) {
	k := call{
		op:     history.Op{Op: history.OpSubmit, Key: key, Data: history.SubmitFacts{Intent: intent}},
		path:   c.a.path(history.OpSubmit, "", 0),
		header: http.Header{}, body: body,
	}
	if key != "" {
		k.header[c.a.keyHeader()] = []string{key}
	}
	return c.job(ctx, k, options)
}

// Job reads a job.
func (c *Client) Job(ctx context.Context, id string, options ...Option) (Job, error) {
	return c.job(ctx, call{op: history.Op{Op: history.OpGet, Job: id}, path: c.a.path(history.OpGet, id, 0), header: http.Header{}}, options)
}

// CancelJob cancels a job.
func (c *Client) CancelJob(ctx context.Context, id, reason string, options ...Option) (Job, error) {
	return c.job(ctx, call{
		op:     history.Op{Op: history.OpCancel, Job: id, Data: history.RequestFacts{Reason: reason}},
		path:   c.a.path(history.OpCancel, id, 0),
		header: http.Header{}, body: reasonBody(reason),
	}, options)
}

// Jobs lists the owner's jobs under a key ("" for all).
func (c *Client) Jobs(ctx context.Context, key string, options ...Option) ([]Job, error) {
	k := call{op: history.Op{Op: history.OpList, Key: key}, path: c.a.path(history.OpList, "", 0), header: http.Header{}}
	if key != "" {
		k.query = url.Values{"key": {key}}.Encode()
	}
	var list struct {
		Jobs []Job `json:"jobs"`
	}
	_, err := c.do(ctx, k.with(options), func(a Answer) (string, string, any, error) {
		body := c.a.list(history.OpList, "jobs", a.Body, c.a.job)
		return "", "", json.RawMessage(body), object(body, &list)
	})
	return list.Jobs, err
}

func (c *Client) job(ctx context.Context, k call, options []Option) (Job, error) {
	var j Job
	answer, err := c.do(ctx, k.with(options), func(a Answer) (string, string, any, error) {
		if a.Status == http.StatusNotModified {
			return k.op.Job, "", nil, nil
		}
		if err := object(c.a.job(a.Body), &j); err != nil {
			return "", "", nil, err
		}
		j.Replayed = c.a.replayed(a.Header)
		j.Replica = or(a.Header.Get(ServedBy), c.o.Replica)
		return j.ID, "", j.Job, nil
	})
	j.Answer = answer
	return j, err
}

func (k call) with(options []Option) call {
	for _, o := range options {
		o(&k)
	}
	return k
}

func reasonBody(reason string) []byte {
	text, _ := json.Marshal(map[string]string{"reason": reason})
	return text
}
