package console

import (
	"crypto/rand"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// kept is how many messages a browser may have missed and still be told one by
// one; who missed more reads everything again.
const kept = 4096

// beat is how often an idle stream shows that it lives.
const beat = 15 * time.Second

// message says that something changed, not what it is now: pages read that.
type message struct {
	revision int64
	topic    string // job, provider, fault, gate, run, lanes, tour, store
	id       string // of the job or run, where there is one
}

// hub tells the streams what changed. Its revisions are good for one console
// only: the name says which.
type hub struct {
	name string

	mu       sync.Mutex
	revision int64
	buffer   []message
	changed  chan struct{} // closed and replaced at each message
	streams  int
}

func newHub() *hub { return &hub{name: rand.Text()[:8], changed: make(chan struct{})} }

func (h *hub) tell(topic, id string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.revision++
	h.buffer = append(h.buffer, message{h.revision, topic, id})
	if len(h.buffer) > kept {
		h.buffer = append(h.buffer[:0:0], h.buffer[len(h.buffer)-kept:]...)
	}
	close(h.changed)
	h.changed = make(chan struct{})
}

// since returns what came after a revision, and whether all of it is known.
func (h *hub) since(revision int64) (list []message, whole bool, changed <-chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if revision > h.revision || revision < h.revision-int64(len(h.buffer)) {
		return nil, false, h.changed
	}
	return append(list, h.buffer[int64(len(h.buffer))-(h.revision-revision):]...), true, h.changed
}

func (h *hub) newest() int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.revision
}

// open counts the streams that are open.
func (h *hub) open(change int) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.streams += change
	return h.streams
}

// position reads a Last-Event-ID: the revision, or -1 where it is of another
// console or none.
func (h *hub) position(id string) int64 {
	name, text, _ := strings.Cut(id, "-")
	n, err := strconv.ParseInt(text, 10, 64)
	if name != h.name || err != nil {
		return -1
	}
	return n
}

// stream serves GET /events.
func (h *hub) stream(w http.ResponseWriter, r *http.Request) {
	out := http.NewResponseController(w)
	w.Header().Set("Content-Type", "text/event-stream")
	h.open(1)
	defer h.open(-1)
	at := h.newest()
	if id := r.Header.Get("Last-Event-ID"); id != "" {
		at = h.position(id)
	}
	// The first message makes the browser remember where it is.
	_, err := fmt.Fprintf(w, "retry: 500\nid: %s-%d\nevent: hello\ndata: %s\n\n", h.name, max(at, 0), h.name)
	timer := time.NewTimer(beat)
	defer timer.Stop()
	for err == nil {
		list, whole, changed := h.since(at)
		if !whole {
			at = h.newest()
			_, err = fmt.Fprintf(w, "id: %s-%d\nevent: resync\ndata: all\n\n", h.name, at)
		}
		for _, m := range list {
			at = m.revision
			if _, err = fmt.Fprintf(w, "id: %s-%d\nevent: %s\ndata: %s\n\n", h.name, m.revision, m.topic, m.id); err != nil {
				return
			}
		}
		if err != nil || out.Flush() != nil {
			return
		}
		timer.Reset(beat)
		select {
		case <-r.Context().Done():
			return
		case <-changed:
		case <-timer.C:
			_, err = fmt.Fprint(w, ": still here\n\n")
		}
	}
}
