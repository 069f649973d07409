// Package target is the client of the service under test: any service that
// meets the job contract, reached over whatever edge a scenario puts in
// between.
//
// The rule it keeps: every call is in the history, before its first byte
// leaves and after its outcome is known, and an outcome that is not known is
// never called a failure. A call is sent once: on a fresh connection, with a
// body that Go's transport cannot send again by itself.
package target

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/interlock-harness/interlock/harness/history"
)

// Bounds of a call.
const (
	toAnswer  = 15 * time.Second // a call without a bound of its own
	maxAnswer = 16 << 20         // bytes of an answer that are read
)

// Options say who calls, and over which edge.
type Options struct {
	Actor    string            // as the history names the caller: client-1
	BaseURL  string            // the edge: balancer, replica, or a proxy in front of one
	Owner    string            // as the history names the owner of the credential
	APIKey   string            // the credential
	Recorder *history.Recorder // where every call goes
	Replica  string            // who answers there, where that is known
	Adapter  *Adapter          // how the target words the contract; nil for the contract's own words
	Timeout  time.Duration     // of one call, connecting included; 0 for 15 s
	// Reuse keeps connections and lets Go's transport replay a keyed POST, as a
	// careless client does (scenario silent-client-replay).
	Reuse bool
}

// Client makes calls as one caller. It is safe for concurrent use.
type Client struct {
	o    Options
	a    *Adapter
	http *http.Client
}

// New makes a client.
func New(o Options) *Client {
	if o.Recorder == nil {
		o.Recorder = history.New()
	}
	if o.Timeout == 0 {
		o.Timeout = toAnswer
	}
	a := o.Adapter
	if a == nil {
		a = Contract()
	}
	transport := &http.Transport{
		DialContext:         (&net.Dialer{Timeout: o.Timeout}).DialContext,
		DisableKeepAlives:   !o.Reuse,
		DisableCompression:  true,
		MaxIdleConnsPerHost: 4,
	}
	return &Client{o: o, a: a, http: &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// Through is the same caller over another edge.
func (c *Client) Through(baseURL string) *Client {
	o := c.o
	o.BaseURL, o.Replica = baseURL, ""
	return New(o)
}

// As is the same caller under another name in the history.
func (c *Client) As(actor string) *Client {
	o := c.o
	o.Actor = actor
	return New(o)
}

// Owner is whose credential the client holds.
func (c *Client) Owner() string { return c.o.Owner }

// Close drops connections that are kept for reuse.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Answer is what came back, whole.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
	Took   time.Duration
}

// Refused is the error of a call that the target definitely refused: it
// answered with a 4xx other than 408.
type Refused struct {
	Answer
	Problem history.Problem
}

func (r *Refused) Error() string {
	return fmt.Sprintf("refused with %d %s: %s", r.Status, r.Problem.Type, r.Problem.Detail)
}

// Is makes errors.Is(err, target.Reason("attempt-in-flight")) work.
func (r *Refused) Is(other error) bool {
	reason, ok := other.(Reason)
	return ok && r.Reason() == reason
}

// Reason is the end of the problem's type, such as "idempotency-key-reused".
func (r *Refused) Reason() Reason {
	return Reason(r.Problem.Type[strings.LastIndexByte(r.Problem.Type, '/')+1:])
}

// Reason is a problem type of the contract, without its path.
type Reason string

func (r Reason) Error() string { return "refused: " + string(r) }

// Unknown is the error of a call whose outcome is not known: no answer, half
// an answer, or one that promises nothing.
type Unknown struct {
	Status int // 0 when no answer came
	Err    error
}

func (u *Unknown) Error() string {
	if u.Status != 0 {
		return fmt.Sprintf("outcome unknown: status %d: %v", u.Status, u.Err)
	}
	return fmt.Sprintf("outcome unknown: %v", u.Err)
}

func (u *Unknown) Unwrap() error { return u.Err }

// IsUnknown says whether a call ended without a known outcome.
func IsUnknown(err error) bool {
	_, ok := errors.AsType[*Unknown](err)
	return ok
}

// call is one call to make: what the history says of it and what is sent.
type call struct {
	op     history.Op
	path   path
	header http.Header
	body   []byte
	query  string
	// breakOff is how much of the body is sent, where not all of it is.
	breakOff *int
}

// do makes a call and records it. read turns the body of a 2xx answer into
// what the history keeps and names the job and attempt it is about.
func (c *Client) do(ctx context.Context, k call, read func(Answer) (job, attempt string, data any, err error)) (Answer, error) {
	if k.path.method == "" {
		return Answer{}, fmt.Errorf("%s: %w", k.op.Op, ErrNotOffered)
	}
	k.op.Actor, k.op.Owner = c.o.Actor, c.o.Owner
	ctx, cancel := context.WithTimeout(ctx, c.o.Timeout)
	defer cancel()
	req, err := c.request(ctx, k)
	if err != nil {
		return Answer{}, err // nothing was sent, and nothing recorded
	}
	record := c.o.Recorder.Invoke(k.op)
	var answer Answer
	if k.breakOff != nil {
		err = sendPart(ctx, req, len(k.body), *k.breakOff)
	} else {
		answer, err = c.send(req)
	}
	if err != nil {
		record.Info(answer.Status, err)
		return answer, &Unknown{Status: answer.Status, Err: err}
	}
	switch history.Outcome(answer.Status) {
	case history.OK:
		job, attempt, data, err := read(answer)
		if err != nil {
			record.Info(answer.Status, err)
			return answer, &Unknown{Status: answer.Status, Err: err}
		}
		record.OK(answer.Status, job, attempt, data)
		return answer, nil
	case history.Fail:
		problem := c.a.problem(answer)
		record.Fail(answer.Status, problem)
		return answer, &Refused{Answer: answer, Problem: problem}
	}
	err = errors.New(http.StatusText(answer.Status))
	if problem := c.a.problem(answer); problem.Type != "" {
		err = errors.New(problem.Type)
	}
	record.Info(answer.Status, err)
	return answer, &Unknown{Status: answer.Status, Err: err}
}

func (c *Client) request(ctx context.Context, k call) (*http.Request, error) {
	url := c.o.BaseURL + k.path.text
	if k.query != "" {
		url += "?" + k.query
	}
	req, err := http.NewRequestWithContext(ctx, k.path.method, url, nil)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", k.op.Op, err)
	}
	for name, values := range k.header {
		req.Header[name] = values
	}
	c.a.authorise(req, c.o.APIKey)
	if k.body == nil {
		return req, nil
	}
	if req.Header.Get("Content-Type") == "" {
		req.Header.Set("Content-Type", "application/json")
	}
	req.ContentLength = int64(len(k.body))
	if c.o.Reuse {
		req.Body = io.NopCloser(bytes.NewReader(k.body))
		req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(k.body)), nil }
		return req, nil
	}
	req.Body = io.NopCloser(once{bytes.NewReader(k.body)})
	return req, nil
}

// once hides from net/http that the body could be read again.
type once struct{ io.Reader }

func (c *Client) send(req *http.Request) (Answer, error) {
	start := time.Now()
	resp, err := c.http.Do(req)
	if err != nil {
		return Answer{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	a := Answer{Status: resp.StatusCode, Header: resp.Header}
	a.Body, err = io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	a.Took = time.Since(start)
	if err == nil && len(a.Body) > maxAnswer {
		err = fmt.Errorf("answer longer than %d bytes", maxAnswer)
	}
	return a, err
}

// object decodes a JSON object; anything else is an error.
func object(body []byte, into any) error {
	trimmed := bytes.TrimSpace(body)
	if len(trimmed) == 0 || trimmed[0] != '{' {
		return errors.New("the answer is not a JSON object")
	}
	if err := json.Unmarshal(trimmed, into); err != nil {
		return fmt.Errorf("the answer is not the JSON that the contract promises: %w", err)
	}
	return nil
}
