package httpapi

import (
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/interlock-harness/interlock/service/internal/job"
)

// eventsAtOnce bounds one read of a job's events. A job has a handful.
const eventsAtOnce = 500

type eventList struct {
	Events []eventBody `json:"events"`
}

// listEvents answers GET /v1/jobs/{id}/events: a list, or with
// `Accept: text/event-stream` a stream that goes on.
func listEvents(s *Server, c *call) error {
	id, err := c.jobID()
	if err != nil {
		return err
	}
	if _, err := c.query(); err != nil {
		return err
	}
	if c.wantsStream() {
		return c.stream(id)
	}
	var all []job.Event
	for after := int64(0); ; {
		events, err := c.readEvents(id, after)
		if err != nil {
			return err
		}
		all = append(all, events...)
		if len(events) < eventsAtOnce {
			break
		}
		after = events[len(events)-1].ID
	}
	c.w.Header().Set("X-Job-Id", string(id))
	return c.cachedByContent(eventList{Events: shapeAll(all, shapeEvent)})
}

func (c *call) readEvents(id job.ID, after int64) ([]job.Event, error) {
	ctx, cancel := c.storeContext()
	defer cancel()
	return c.s.store.Events(ctx, c.who.scope(), id, after, eventsAtOnce)
}

func (c *call) wantsStream() bool {
	if c.r.Method != http.MethodGet {
		return false
	}
	for _, line := range c.r.Header.Values("Accept") {
		for item := range strings.SplitSeq(line, ",") {
			item, _, _ = strings.Cut(item, ";")
			if strings.EqualFold(strings.TrimSpace(item), "text/event-stream") {
				return true
			}
		}
	}
	return false
}

// ParseLastEventID reads the number of the last event that a client saw. Absent
// is 0: from the beginning.
func ParseLastEventID(h http.Header) (int64, error) {
	lines := h.Values("Last-Event-ID")
	if len(lines) == 0 {
		return 0, nil
	}
	text := lines[0]
	n, err := strconv.ParseInt(text, 10, 64)
	if len(lines) > 1 || err != nil || n < 0 || strconv.FormatInt(n, 10) != text {
		return 0, refuse(headerInvalid, "Last-Event-ID is the number of an event")
	}
	return n, nil
}

// stream sends the events of a job, old ones first, then each as it happens. A
// reader that is slower than one event in WriteTime loses the connection and
// resumes with Last-Event-ID.
func (c *call) stream(id job.ID) error {
	after, err := ParseLastEventID(c.r.Header)
	if err != nil {
		return err
	}
	leave, ok := c.s.streams.enter(c.who.Owner)
	if !ok {
		no := refuse(streamsSpent, "close one of them, or ask again later")
		no.retryAfter = streamsRetry
		return no
	}
	defer leave()
	moved, unwatch := c.s.pulse.watch(id)
	defer unwatch()
	next := moved()
	events, err := c.readEvents(id, after)
	if err != nil {
		return err // still a plain answer: nothing was written yet
	}
	out := c.openStream(id)
	for {
		for _, e := range events {
			if e.ID > after {
				after = e.ID
				out.event(e)
			}
		}
		if len(events) < eventsAtOnce && !out.idle(next) {
			return nil
		}
		next = moved()
		if events, err = c.readEvents(id, after); err != nil {
			if errors.Is(err, job.ErrUnavailable) {
				continue // the client keeps its stream; the next beat asks again
			}
			return nil // the client resumes and gets the answer as a status
		}
	}
}
