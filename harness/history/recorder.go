package history

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"
)

// Recorder appends events to memory and, when it has a file, to a JSON Lines
// file. It is safe for concurrent use. A recorder made by Child shares clock,
// counter and file with its parent and keeps the events of one scenario.
type Recorder struct {
	log      *log
	scenario string
	quiet    bool // its faults need not fire
}

// log is what a recorder and its children share.
type log struct {
	mu     sync.Mutex
	start  time.Time
	last   int64 // N of the newest event
	calls  int64
	lastUS int64
	events []Event
	out    *bufio.Writer
	file   syncer
	soon   *time.Timer // until what is written is passed on to the file
	err    error       // first write error: nothing after it is trusted
	closed bool
	plays  map[string]int // how often each scenario was begun
	sealed map[string]bool
}

// syncer is what Flush needs of a file.
type syncer interface {
	io.WriteCloser
	Sync() error
}

// New returns a recorder that keeps events in memory only.
func New() *Recorder { return &Recorder{log: &log{start: time.Now()}} }

// Create returns a recorder that writes to a new file at path. It refuses to
// touch a file that exists: a history is never written twice.
func Create(path string) (*Recorder, error) {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return nil, fmt.Errorf("create history: %w", err)
	}
	r := New()
	r.log.file, r.log.out = file, bufio.NewWriterSize(file, 64<<10)
	return r, nil
}

// NewOn returns a recorder that writes to file, which it closes in Close.
func NewOn(file interface {
	io.WriteCloser
	Sync() error
}) *Recorder {
	r := New()
	r.log.file, r.log.out = file, bufio.NewWriterSize(file, 64<<10)
	return r
}

// Child returns a recorder for one play of a scenario: everything it records
// carries the play's name, and Events returns the events of that play alone. The
// first play is named by the slug, the second slug#2, and so on: each has a
// history of its own to be judged.
func (r *Recorder) Child(slug string) *Recorder {
	r.log.mu.Lock()
	defer r.log.mu.Unlock()
	if r.log.plays == nil {
		r.log.plays = map[string]int{}
	}
	r.log.plays[slug]++
	name := slug
	if n := r.log.plays[slug]; n > 1 {
		name = fmt.Sprintf("%s#%d", slug, n)
	}
	return &Recorder{log: r.log, scenario: name}
}

// Seal ends the history of a child's play: it is about to be judged, and what
// comes later, such as a call that a stand-in gives up at last, must not change
// what was judged. It is kept as an event of the run.
func (r *Recorder) Seal() {
	r.log.mu.Lock()
	defer r.log.mu.Unlock()
	if r.log.sealed == nil {
		r.log.sealed = map[string]bool{}
	}
	r.log.sealed[r.scenario] = true
}

// Scenario returns the name of a child's play, or "" for the whole run.
func (r *Recorder) Scenario() string { return r.scenario }

// Slug returns the slug of the scenario that a play belongs to: its name up to the
// number of the try, where the run repeats its scenarios, or of the play.
func Slug(play string) string {
	if i := strings.IndexAny(play, "/#"); i >= 0 {
		return play[:i]
	}
	return play
}

// Record appends e and returns it with number and time filled in. Callers leave
// N, AtUS and Scenario empty. data is any value that encodes to a JSON object,
// or nil. What cannot be encoded is an error of the run (see Flush), not a
// reason to stop it.
func (r *Recorder) Record(e Event, data any) Event {
	encoded, err := encode(data)
	if e.Scenario == "" {
		e.Scenario = r.scenario
	}
	for _, s := range []*string{&e.Lane, &e.Actor, &e.Op, &e.Owner, &e.Key, &e.Job, &e.Attempt} {
		*s = strings.ToValidUTF8(*s, "\uFFFD") // what a file of UTF-8 cannot hold
	}
	l := r.log
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil && l.err == nil {
		l.err = fmt.Errorf("record %s %s: %w", e.Kind, e.Op, err)
	}
	if l.closed && l.err == nil {
		l.err = fmt.Errorf("record %s %s: %w", e.Kind, e.Op, errClosed)
	}
	if len(encoded) > 0 {
		e.Data = encoded
	}
	if l.sealed[e.Scenario] {
		e.Scenario = ""
	}
	l.last++
	// The clock is read under the lock: time never runs against the counter.
	e.N, e.AtUS = l.last, max(l.lastUS, time.Since(l.start).Microseconds())
	l.lastUS = e.AtUS
	l.events = append(l.events, e)
	l.write(e)
	return e
}

var errClosed = errors.New("the history is closed")

func (l *log) write(e Event) {
	if l.out == nil || l.err != nil {
		return
	}
	line, err := json.Marshal(e)
	if err == nil {
		_, err = l.out.Write(append(line, '\n'))
	}
	if err != nil {
		l.err = fmt.Errorf("write history: %w", err)
	}
	if l.soon == nil {
		l.soon = time.AfterFunc(late, l.pass)
	}
}

// late is how long an event may be missing in the file, where whoever watches the
// run reads it. To disk it comes by Flush.
const late = 50 * time.Millisecond

// pass brings what was recorded into the file.
func (l *log) pass() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.soon = nil
	if l.err != nil || l.closed {
		return
	}
	if err := l.out.Flush(); err != nil {
		l.err = fmt.Errorf("write history: %w", err)
	}
}

// MaxData bounds the data of one event: a provider's answer fits (8 MiB), a
// mistake does not fill the disk.
const MaxData = 12 << 20

// encode turns data into one JSON object of valid UTF-8.
func encode(data any) (json.RawMessage, error) {
	if data == nil {
		return nil, nil
	}
	raw, ok := data.(json.RawMessage)
	if ok {
		if len(raw) == 0 {
			return nil, nil
		}
		raw = bytes.ToValidUTF8(raw, []byte("\uFFFD"))
	}
	if len(raw) > MaxData {
		return nil, fmt.Errorf("data of %d bytes", len(raw))
	}
	var value any = raw
	if !ok {
		value = data
	}
	encoded, err := json.Marshal(value) // also of raw: checked, and in one line
	switch {
	case err != nil:
		return nil, err
	case len(encoded) > MaxData:
		return nil, fmt.Errorf("data of %d bytes", len(encoded))
	case firstByte(encoded) != '{':
		return nil, errors.New("data is not one JSON object")
	}
	return encoded, nil
}

func firstByte(b []byte) byte {
	for _, c := range b {
		if c != ' ' && c != '\t' && c != '\n' && c != '\r' {
			return c
		}
	}
	return 0
}

// NextCall returns a number that no other operation of this run has.
func (r *Recorder) NextCall() int64 {
	r.log.mu.Lock()
	defer r.log.mu.Unlock()
	r.log.calls++
	return r.log.calls
}

// Flush brings everything recorded so far to disk and returns the first error
// of the recording. Judge only after it returned nil.
func (r *Recorder) Flush() error {
	l := r.log
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.flush()
}

func (l *log) flush() error {
	if l.out != nil && l.err == nil && !l.closed {
		if err := l.out.Flush(); err != nil {
			l.err = fmt.Errorf("write history: %w", err)
		} else if err := l.file.Sync(); err != nil {
			l.err = fmt.Errorf("sync history: %w", err)
		}
	}
	return l.err
}

// Close flushes and closes the file. Events stay readable.
func (r *Recorder) Close() error {
	l := r.log
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return l.err
	}
	err := l.flush()
	l.closed = true
	if l.soon != nil {
		l.soon.Stop()
	}
	if l.file != nil {
		if closeErr := l.file.Close(); err == nil && closeErr != nil {
			l.err = fmt.Errorf("close history: %w", closeErr)
			err = l.err
		}
	}
	return err
}

// Events returns a copy of what was recorded: of a child the events of its
// play, of the first recorder all of them.
func (r *Recorder) Events() []Event {
	r.log.mu.Lock()
	defer r.log.mu.Unlock()
	if r.scenario == "" {
		return append([]Event(nil), r.log.events...)
	}
	return Of(r.log.events, r.scenario)
}

// Of returns the events of one play.
func Of(events []Event, scenario string) []Event {
	var own []Event
	for _, e := range events {
		if e.Scenario == scenario {
			own = append(own, e)
		}
	}
	return own
}
