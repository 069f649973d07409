package console

import (
	"encoding/json"
	"net/http"
	"strconv"
	"sync"

	"github.com/interlock-harness/interlock/harness/history"
	"github.com/interlock-harness/interlock/harness/report"
)

// Bounds of the live lanes. A scenario records some hundred events; of one with
// more the beginning is drawn, and how many follow is said.
const (
	maxLive     = 2000
	maxLiveData = 64 << 10 // bytes of one event
)

// live is the newest play of the run that was started last, as far as the run has
// recorded it. It is read from the history that the run writes, so that watching
// changes nothing in the run.
type live struct {
	mu       sync.Mutex
	run      int
	tail     *history.Tail
	begin    history.Event // of the run: it dates what the database dated
	play     report.Play   // judged once it has a verdict
	window   report.Window
	ended    bool
	revision int64
	packed   []byte // of that revision, nil where nobody asked yet
}

// follow turns to the history of another run.
func (l *live) follow(run int, path string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.tail != nil {
		_ = l.tail.Close()
	}
	l.run, l.tail, l.begin, l.ended = run, history.Follow(path), history.Event{}, false
	l.next("")
}

// next turns to another play.
func (l *live) next(play string) {
	l.play, l.window, l.packed = report.Play{History: play, Slug: history.Slug(play)}, report.Window{Limit: maxLive}, nil
	l.revision++
}

// look reads what was recorded since, and reports whether there is more to see.
func (l *live) look() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.catchUp()
}

func (l *live) catchUp() bool {
	if l.tail == nil {
		return false
	}
	before := l.revision
	if l.tail.Next(l.take) != nil { // the report says what is wrong with it
		_ = l.tail.Close()
		l.tail = nil
	}
	return l.revision != before
}

func (l *live) take(e history.Event) {
	switch {
	case l.begin.N == 0:
		l.begin = e
		return
	case e.Scenario == "", e.Kind == history.Snapshot: // of the run, or never drawn
		return
	case e.Scenario != l.play.History:
		l.next(e.Scenario)
	}
	if len(e.Data) > maxLiveData {
		e.Data = nil
	}
	l.window.Add(e)
	l.revision++
	l.packed = nil
}

// judged brings the verdict of a play, which comes after its last event.
func (l *live) judged(p report.Play) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.catchUp()
	if p.History == l.play.History && p.History != "" {
		l.play, l.packed = p, nil
		l.revision++
	}
}

// end says that the run is over: what is not judged by now never is.
func (l *live) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.catchUp()
	l.ended = true
	l.revision++
}

// liveView is what the lanes of /runs are drawn from.
type liveView struct {
	Run      int             `json:"run"` // 0: none was started here
	Play     string          `json:"play"`
	Ended    bool            `json:"ended"`
	Revision int64           `json:"revision"`
	Data     json.RawMessage `json:"data"` // see report.PackPlay; null before the first event
}

// view is the play as it stands. ok is false where that is revision after.
func (l *live) view(after int64) (v liveView, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	v = liveView{Run: l.run, Play: report.Untrusted(l.play.History).Terminal(), Ended: l.ended, Revision: l.revision, Data: json.RawMessage("null")}
	if v.Revision == after {
		return v, false
	}
	if l.packed == nil && len(l.window.Events) > 0 {
		packed, err := report.PackPlay(l.play, l.window.Events, l.window.LeftOut, l.begin)
		if err != nil {
			return v, false
		}
		l.packed = packed
	}
	if l.packed != nil {
		v.Data = l.packed
	}
	return v, true
}

// serveLanes answers with the live lanes, or 204 where the page has them.
func (c *Console) serveLanes(w http.ResponseWriter, r *http.Request) {
	after, err := strconv.ParseInt(r.URL.Query().Get("after"), 10, 64)
	if err != nil {
		after = -1
	}
	v, ok := c.runs.live.view(after)
	if !ok {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // who asked may have left
}
