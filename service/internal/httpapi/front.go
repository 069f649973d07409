package httpapi

import (
	"fmt"
	"net/http"
	"runtime/debug"
	"strings"

	"github.com/google/uuid"
)

// ServeHTTP takes one request through the front (framing, limits), the route
// table, the credential and the handler. Every answer carries the request's id
// and a trace context.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c := &call{s: s, w: w, r: r, id: newRequestID()}
	c.log = s.log.With("request_id", c.id)
	h := w.Header()
	defer c.trace()()
	h.Set("X-Request-Id", c.id)
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	if len(r.TransferEncoding) > 0 {
		// Where a length came beside the chunks Go drops it unseen, and another
		// hop may have counted otherwise: nothing follows on this connection.
		h.Set("Connection", "close")
	}
	defer c.recover()
	if err := c.serve(); err != nil {
		c.refuse(err)
	}
}

func (c *call) serve() error {
	c.boundBody()
	if err := c.s.checkFront(c.r); err != nil {
		return err
	}
	route, params, no := match(c.s.routes, c.r.Method, c.r.URL.EscapedPath())
	if no != nil {
		return no
	}
	c.route, c.params = route, params
	c.log = c.log.With("route", route.method+" "+route.path)
	if route.access != everybody {
		who, err := c.s.keys.identify(c.r.Context(), c.r.Header)
		if err != nil {
			return err
		}
		c.who = who
		if route.access == operators && !who.operator() {
			return c.lacksRole()
		}
	}
	return route.handle(c.s, c)
}

// lacksRole refuses an operator's verb to an owner. On a job that is not the
// owner's it says what every other route says of it: there is none. A 403 there
// would tell that the job exists.
func (c *call) lacksRole() error {
	if _, onJob := c.params["id"]; onJob {
		id, err := c.jobID()
		if err != nil {
			return err
		}
		if _, err := c.readJob(c.who.scope(), id); err != nil {
			return err
		}
	}
	return refuse(roleRequired, "this takes a key with the role operator")
}

// recover keeps one request's panic from the others. It is a bug wherever it
// happens, so it is logged as one.
func (c *call) recover() {
	p := recover()
	if p == nil {
		return
	}
	if p == http.ErrAbortHandler {
		panic(p)
	}
	c.log.Error("panic", "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
	c.w.Header().Set("Connection", "close")
	c.refuse(fmt.Errorf("panic: %v", p))
}

// checkFront refuses what Go's server lets through and our contract does not.
func (s *Server) checkFront(r *http.Request) error {
	if r.ProtoMajor != 1 {
		return refuse(requestMalformed, "only HTTP/1.1 is spoken here")
	}
	if len(r.RequestURI) > s.limits.Target {
		return refuse(targetTooLong, fmt.Sprintf("at most %d bytes are taken", s.limits.Target))
	}
	lines, size := 1, len("Host: \r\n")+len(r.Host)
	for name, values := range r.Header {
		for _, v := range values {
			lines++
			size += len(name) + len(v) + len(": \r\n")
		}
	}
	if lines > s.limits.HeaderLines || size > s.limits.Headers {
		return refuse(headersTooLarge, fmt.Sprintf("at most %d lines and %d bytes are taken", s.limits.HeaderLines, s.limits.Headers))
	}
	for _, line := range r.Header.Values("Connection") {
		for option := range strings.SplitSeq(line, ",") {
			switch strings.ToLower(strings.TrimSpace(option)) {
			case "", "close", "keep-alive", "upgrade", "http2-settings", "te": // hop by hop by nature
			default:
				return refuse(badConnection, "it would make a proxy drop a field of this contract")
			}
		}
	}
	return nil
}

// newRequestID names this hop of this request. What the client sends under the
// same header is not looked at: it may be long, forged or shared.
func newRequestID() string {
	id, err := uuid.NewV7()
	if err != nil {
		id = uuid.New()
	}
	return id.String()
}
