package target

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"

	"github.com/interlock-harness/interlock/harness/history"
)

// Attempt is an attempt as an answer shows it, with that answer.
type Attempt struct {
	history.Attempt
	StartedAt string `json:"started_at"`
	EndedAt   string `json:"ended_at"`
	Since     string `json:"since"`
	Answer    Answer `json:"-"`
}

// Open says whether the attempt blocks a new one.
func (a Attempt) Open() bool {
	return a.State == "starting" || a.State == "running" || a.State == "unknown"
}

// Attempts lists the attempts of a job, oldest first.
func (c *Client) Attempts(ctx context.Context, job string) ([]Attempt, error) {
	var list struct {
		Attempts []Attempt `json:"attempts"`
	}
	err := c.list(ctx, history.OpAttempts, job, "", "attempts", c.a.attempt, &list)
	return list.Attempts, err
}

// Events lists what happened to a job, oldest first.
func (c *Client) Events(ctx context.Context, job string) ([]history.Move, error) {
	var list struct {
		Events []history.Move `json:"events"`
	}
	err := c.list(ctx, history.OpEvents, job, "", "events", same, &list)
	return list.Events, err
}

// Races lists the late results of a job.
func (c *Client) Races(ctx context.Context, job string) ([]history.Race, error) {
	var list struct {
		Races []history.Race `json:"races"`
	}
	err := c.list(ctx, history.OpRaces, job, url.Values{"job": {job}}.Encode(), "races", same, &list)
	return list.Races, err
}

func same(entry []byte) []byte { return entry }

func (c *Client) list(ctx context.Context, op, job, query, name string, entry func([]byte) []byte, into any) error {
	k := call{op: history.Op{Op: op, Job: job}, path: c.a.path(op, job, 0), header: http.Header{}, query: query}
	_, err := c.do(ctx, k, func(a Answer) (string, string, any, error) {
		body := c.a.list(op, name, a.Body, entry)
		return job, "", json.RawMessage(body), object(body, into)
	})
	return err
}

// StartAttempt starts one more attempt. trigger is the idempotency key of this
// click; provider "" keeps the job's own.
func (c *Client) StartAttempt(ctx context.Context, job, trigger, provider string, options ...Option) (Attempt, error) {
	body := map[string]string{}
	if provider != "" {
		body["provider"] = or(c.a.Providers[provider], provider)
	}
	text, _ := json.Marshal(body)
	k := call{
		op:     history.Op{Op: history.OpStart, Job: job, Data: history.RequestFacts{Provider: provider, Trigger: trigger}},
		path:   c.a.path(history.OpStart, job, 0),
		header: http.Header{}, body: text,
	}
	if trigger != "" {
		k.header[c.a.keyHeader()] = []string{trigger}
	}
	return c.attempt(ctx, k, options)
}

// CancelAttempt fences attempt n for ever. The client must hold an operator's
// credential, here and in the next two.
func (c *Client) CancelAttempt(ctx context.Context, job string, n int, reason string, options ...Option) (Attempt, error) {
	return c.operate(ctx, history.OpCancelAttempt, job, n, history.RequestFacts{Reason: reason}, reasonBody(reason), options)
}

// Release stops attempt n from blocking; it may still win.
func (c *Client) Release(ctx context.Context, job string, n int, reason string, options ...Option) (Attempt, error) {
	return c.operate(ctx, history.OpRelease, job, n, history.RequestFacts{Reason: reason}, reasonBody(reason), options)
}

// Resolution is what an operator found out about an unknown attempt.
type Resolution struct {
	Outcome  string          `json:"outcome"` // succeeded, failed
	Result   json.RawMessage `json:"result,omitempty"`
	Evidence string          `json:"evidence,omitempty"`
	Reason   string          `json:"reason,omitempty"`
}

// Resolve states the outcome of attempt n.
func (c *Client) Resolve(ctx context.Context, job string, n int, r Resolution, options ...Option) (Attempt, error) {
	text, err := json.Marshal(r)
	if err != nil {
		return Attempt{}, err
	}
	return c.operate(ctx, history.OpResolve, job, n, history.RequestFacts{Reason: r.Reason, Outcome: r.Outcome}, text, options)
}

func (c *Client) operate(ctx context.Context, op, job string, n int, facts history.RequestFacts, body []byte, options []Option) (Attempt, error) {
	return c.attempt(ctx, call{
		op:     history.Op{Op: op, Job: job, Attempt: strconv.Itoa(n), Data: facts},
		path:   c.a.path(op, job, n),
		header: http.Header{}, body: body,
	}, options)
}

func (c *Client) attempt(ctx context.Context, k call, options []Option) (Attempt, error) {
	var at Attempt
	answer, err := c.do(ctx, k.with(options), func(a Answer) (string, string, any, error) {
		if err := object(c.a.attempt(a.Body), &at); err != nil {
			return "", "", nil, err
		}
		at.Replayed = c.a.replayed(a.Header)
		return or(at.JobID, k.op.Job), at.ID, at.Attempt, nil
	})
	at.Answer = answer
	return at, err
}

// Permission is the gate's answer to a failover.
type Permission struct {
	Allowed bool     `json:"allowed"`
	Reasons []string `json:"reasons"`
}

// Failover asks whether jobs of contract may go on from one provider at
// another.
func (c *Client) Failover(ctx context.Context, from, to, contract string) (Permission, error) {
	var p Permission
	k := call{
		op: history.Op{Op: OpFailover}, path: c.a.path(OpFailover, "", 0), header: http.Header{},
		query: url.Values{"from": {from}, "to": {to}, "contract": {contract}}.Encode(),
	}
	_, err := c.do(ctx, k, func(a Answer) (string, string, any, error) {
		return "", "", json.RawMessage(a.Body), object(a.Body, &p)
	})
	return p, err
}

// Raw makes any call, for what the methods above do not cover. The answer of a
// refusal comes with the error too.
func (c *Client) Raw(ctx context.Context, method, pathAndQuery string, body []byte, options ...Option) (Answer, error) {
	k := call{op: history.Op{Op: OpRaw}, path: path{method, pathAndQuery}, header: http.Header{}, body: body}
	return c.do(ctx, k.with(options), func(Answer) (string, string, any, error) { return "", "", nil, nil })
}
