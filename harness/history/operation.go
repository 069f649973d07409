package history

import "encoding/json"

// Op describes a client operation about to leave.
type Op struct {
	Actor   string // client-1; an operator's name begins with "operator"
	Op      string // OpSubmit, ...
	Owner   string
	Key     string
	Job     string
	Attempt string
	Data    any // SubmitFacts, RequestFacts
}

// Call is a client operation that was invoked. Exactly one of OK, Fail and Info
// ends it; a call that nobody ends counts as unknown.
type Call struct {
	r *Recorder
	e Event
}

// Invoke records that an operation is about to leave. Call it before the first
// byte is written.
func (r *Recorder) Invoke(op Op) *Call {
	e := Event{
		Lane: "client", Actor: op.Actor, Kind: Invoke, Op: op.Op, Call: r.NextCall(),
		Owner: op.Owner, Key: op.Key, Job: op.Job, Attempt: op.Attempt,
	}
	r.Record(e, op.Data)
	return &Call{r: r, e: e}
}

// ID returns the number that ties the events of this call.
func (c *Call) ID() int64 { return c.e.Call }

// OK records an answer that claims an effect. job and attempt name what the
// answer is about ("" keeps what the operation named); body is the answer's
// JSON object.
func (c *Call) OK(status int, job, attempt string, body any) Event {
	return c.end(OK, status, job, attempt, body)
}

// Fail records a definite refusal; problem is its body.
func (c *Call) Fail(status int, problem any) Event {
	return c.end(Fail, status, "", "", problem)
}

// Info records that the outcome is not known: status is 0 when nothing or not
// all of an answer came back.
func (c *Call) Info(status int, err error) Event {
	facts := ErrorFacts{}
	if err != nil {
		facts.Error = err.Error()
	}
	return c.end(Info, status, "", "", facts)
}

func (c *Call) end(kind Kind, status int, job, attempt string, data any) Event {
	e := c.e
	e.Kind, e.Status = kind, status
	if job != "" {
		e.Job = job
	}
	if attempt != "" {
		e.Attempt = attempt
	}
	if raw, ok := data.([]byte); ok {
		data = json.RawMessage(raw)
	}
	return c.r.Record(e, data)
}

// Outcome says how a status is recorded, the same way for every client:
// 2xx and 304 ok, 4xx but 408 fail, everything else (0 for no answer) info. A refusal
// whose problem says indeterminate is still a fail here: whether a target may
// say so is for an invariant to judge.
func Outcome(status int) Kind {
	switch {
	case status >= 200 && status < 300, status == 304:
		return OK
	case status >= 400 && status < 500 && status != 408: // 408: the request may have got through
		return Fail
	}
	return Info
}
