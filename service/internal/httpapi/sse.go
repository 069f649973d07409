package httpapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/interlock-harness/interlock/service/internal/job"
)

const (
	streamBeat   = 15 * time.Second // a comment line, so that silence means a dead connection
	streamsRetry = 5 * time.Second
)

// eventStream writes one text/event-stream. After the first failed write it
// stays silent, and idle tells the caller to stop.
type eventStream struct {
	c       *call
	control *http.ResponseController
	beat    *time.Ticker
	failed  bool
}

func (c *call) openStream(id job.ID) *eventStream {
	h := c.w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("X-Job-Id", string(id))
	h.Set("X-Accel-Buffering", "no") // or nginx holds events back
	s := &eventStream{c: c, control: http.NewResponseController(c.w), beat: time.NewTicker(streamBeat)}
	s.send("retry: 1000\n\n")
	return s
}

// event sends one event; its number is the id to resume from.
func (s *eventStream) event(e job.Event) {
	data, err := json.Marshal(shapeEvent(e))
	if err != nil {
		s.failed = true
		s.c.log.Error("event cannot be written", "event", e.ID, "error", err)
		return
	}
	s.send(fmt.Sprintf("id: %d\nevent: %s\ndata: %s\n\n", e.ID, e.Type, data))
}

// send has a deadline of its own for each write, which a deadline for the whole
// answer could not give.
func (s *eventStream) send(text string) {
	if s.failed {
		return
	}
	_ = s.control.SetWriteDeadline(time.Now().Add(s.c.s.limits.WriteTime))
	if _, err := s.c.w.Write([]byte(text)); err != nil {
		s.failed = true
		return
	}
	s.failed = s.control.Flush() != nil
}

// idle waits for the job to move. It returns false when the stream is over: the
// client left or reads too slowly, its key is no longer valid, or the server
// drains.
func (s *eventStream) idle(moved <-chan struct{}) bool {
	for !s.failed {
		select {
		case <-moved:
			return true
		case <-s.c.r.Context().Done():
			return false
		case <-s.c.s.draining:
			return false
		case <-s.beat.C:
			if _, err := s.c.s.keys.identify(s.c.r.Context(), s.c.r.Header); err != nil && problemOf(err).kind == unauthorized {
				return false
			}
			s.send(": still here\n\n")
			return !s.failed // look again, in case a beat was missed
		}
	}
	return false
}
