package httpapi

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"net/http"
	"strings"

	"github.com/interlock-harness/interlock/service/internal/job"
)

// Tracer makes a span of each request.
type Tracer interface {
	// Request begins the span of a request that is answered with the trace context
	// ours; parent is the caller's, empty when it sent none. The span ends with what
	// the request came to.
	Request(ctx context.Context, parent, ours string) (context.Context, func(Answered))
}

// Answered is what a request came to.
type Answered struct {
	Method string
	Route  string // as in the table of routes, empty for none
	Status int
	Job    job.ID // that the answer is about, empty for none
	New    bool   // the request made it
}

// trace gives the request a trace context, and a span where there is a tracer. end
// is called when it is answered.
func (c *call) trace() (end func()) {
	parent := parentTrace(c.r.Header)
	ours := continued(parent)
	c.w.Header().Set("Traceparent", ours)
	if c.s.tracer == nil {
		return func() {}
	}
	ctx, ended := c.s.tracer.Request(c.r.Context(), parent, ours)
	c.r = c.r.WithContext(ctx)
	return func() {
		a := Answered{Method: c.r.Method, Status: c.status, Job: job.ID(c.w.Header().Get("X-Job-Id")), New: c.created}
		if c.route != nil {
			a.Route = c.route.path
		} else {
			a.Method = "_OTHER" // of a request that fits no route, anything may stand there
		}
		if a.Status == 0 {
			a.Status = http.StatusOK
		}
		ended(a)
	}
}

// parentTrace is the caller's trace context (W3C), empty when it is absent, double
// or malformed.
func parentTrace(h http.Header) string {
	if lines := h.Values("Traceparent"); len(lines) == 1 && validTraceparent(lines[0]) {
		return lines[0]
	}
	return ""
}

// continued is the caller's trace with a span of our own, or a trace of our own.
func continued(parent string) string {
	var span [8]byte
	_, _ = rand.Read(span[:])
	trace, flags := "", "00"
	if parent != "" {
		trace, flags = parent[3:35], parent[53:55]
	} else {
		var id [16]byte
		_, _ = rand.Read(id[:])
		trace = hex.EncodeToString(id[:])
	}
	return "00-" + trace + "-" + hex.EncodeToString(span[:]) + "-" + flags
}

func validTraceparent(s string) bool {
	if len(s) != 55 || s[:3] != "00-" || s[35] != '-' || s[52] != '-' {
		return false
	}
	for _, part := range []string{s[3:35], s[36:52], s[53:55]} {
		if strings.Trim(part, "0123456789abcdef") != "" {
			return false
		}
	}
	return strings.Trim(s[3:35], "0") != "" && strings.Trim(s[36:52], "0") != ""
}
