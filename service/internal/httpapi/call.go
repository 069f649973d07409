package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/interlock-harness/interlock/service/internal/job"
	"github.com/interlock-harness/interlock/service/internal/mutant"
)

// call is one request on its way through: who asks, for what, and the one
// answer.
type call struct {
	s      *Server
	w      http.ResponseWriter
	r      *http.Request
	who    Principal
	route  *route // nil when there is none
	params map[string]string
	id     string // X-Request-Id of this hop; never an identity of anything else
	log    *slog.Logger

	consumed bool // the body was read to its end
	created  bool // a job was made
	status   int  // that was answered; 0: not yet, or by a handler of its own
}

// storeContext bounds the statements of one request. It outlives the client: a
// client that goes away does not stop what it asked for.
func (c *call) storeContext() (context.Context, context.CancelFunc) {
	parent := context.WithoutCancel(c.r.Context())
	if c.s.mutant.Is(mutant.RequestContext) {
		parent = c.r.Context()
	}
	return context.WithTimeout(parent, c.s.limits.StoreTime)
}

// jobID reads {id}: a UUID in its canonical form and nothing else.
func (c *call) jobID() (job.ID, error) {
	id, err := parseID(c.params["id"])
	if err != nil {
		return "", err
	}
	return job.ID(id), nil
}

func parseID(text string) (string, error) {
	id, err := uuid.Parse(text)
	if err != nil || id.String() != text {
		return "", refuse(idInvalid, "a job's id is a UUID in lower case")
	}
	return text, nil
}

// attemptNumber reads {n}: 1, 2, ... in plain digits.
func (c *call) attemptNumber() (int, error) {
	text := c.params["n"]
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil || n < 1 || strconv.FormatInt(n, 10) != text {
		return 0, refuse(idInvalid, "an attempt's number is 1, 2, ... in plain digits")
	}
	return int(n), nil
}

// query reads the query. Names that the route does not know, and names that
// stand twice, are refused: a misspelt filter must not widen an answer.
func (c *call) query(known ...string) (map[string]string, error) {
	values, err := url.ParseQuery(c.r.URL.RawQuery)
	if err != nil {
		return nil, refuse(queryInvalid, "the query cannot be read")
	}
	read := make(map[string]string, len(values))
	for _, name := range known {
		if list, ok := values[name]; ok {
			if len(list) != 1 || list[0] == "" {
				return nil, refuse(queryInvalid, "parameter "+quoted(name)+" is wanted once, and not empty")
			}
			read[name] = list[0]
			delete(values, name)
		}
	}
	for name := range values {
		return nil, refuse(queryInvalid, "parameter "+quoted(name)+" is not known here")
	}
	return read, nil
}

// answer writes v as JSON. A client that reads too slowly loses the connection.
func (c *call) answer(status int, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	c.write(status, "application/json", append(text, '\n'))
	return nil
}

func (c *call) write(status int, contentType string, text []byte) {
	h := c.w.Header()
	h.Set("Content-Type", contentType)
	h.Set("Content-Length", strconv.Itoa(len(text)))
	control := http.NewResponseController(c.w)
	for piece := range slices.Chunk(text, pieceOfAnswer) {
		_ = control.SetWriteDeadline(time.Now().Add(c.s.limits.WriteTime))
		if status != 0 {
			c.w.WriteHeader(status)
			c.status, status = status, 0
		}
		if _, err := c.w.Write(piece); err != nil {
			return // a client that is gone learns the outcome from its next request
		}
	}
}

// pieceOfAnswer is what a client must take within WriteTime to keep its
// connection, in bytes.
const pieceOfAnswer = 128 << 10

// refuse answers err as a problem. An unrecognised error leaves its cause in the
// log, and nothing of it in the answer.
func (c *call) refuse(err error) {
	r := problemOf(err)
	switch {
	case r.kind == internalError:
		c.log.Error("request failed", "error", err)
	case r.kind == storeUnavailable && !errors.Is(err, r):
		c.log.Warn("store unavailable", "error", err)
	}
	c.s.metrics.Refused(r.kind.suffix)
	h := c.w.Header()
	h.Set("Link", `</problems/`+r.kind.suffix+`>; rel="describedby"`)
	if r.allow != "" {
		h.Set("Allow", r.allow)
	}
	if r.retryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(max(1, int((r.retryAfter+time.Second-1)/time.Second))))
	}
	if r.kind.status == http.StatusConflict && !r.kind.again {
		h.Set("X-Should-Retry", "false") // many clients repeat any 409 by themselves
	}
	if r.kind.status == http.StatusUnauthorized {
		h.Set("WWW-Authenticate", `Bearer realm="interlock"`)
	}
	if r.attempt != "" {
		h.Set("X-Attempt-Id", string(r.attempt))
	}
	if r.jobID != "" {
		h.Set("X-Job-Id", string(r.jobID))
	}
	if r.kind.close || c.r.ContentLength != 0 && !c.consumed {
		h.Set("Connection", "close") // what is left of the body must not become a request
	}
	text, _ := json.Marshal(r.body())
	c.write(r.kind.status, "application/problem+json", append(text, '\n'))
}
