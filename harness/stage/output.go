package stage

import (
	"bufio"
	"bytes"
	"os"
	"strings"
	"sync"
)

// firstLine is a writer that keeps the first line and drops the rest.
type firstLine struct {
	mu   sync.Mutex
	buf  bytes.Buffer
	full bool
	done chan struct{}
}

func newFirstLine() *firstLine { return &firstLine{done: make(chan struct{})} }

func (f *firstLine) Write(b []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.full {
		line, _, found := bytes.Cut(b, []byte{'\n'})
		f.buf.Write(line)
		if found || f.buf.Len() > 1<<16 {
			f.full = true
			close(f.done)
		}
	}
	return len(b), nil
}

func (f *firstLine) line() []byte {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.buf.Bytes()
}

// tail keeps the end of what was written.
type tail struct {
	mu  sync.Mutex
	buf []byte
}

const tailSize = 16 << 10

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, b...)
	if over := len(t.buf) - tailSize; over > 0 {
		t.buf = append(t.buf[:0], t.buf[over:]...)
	}
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.buf)
}

// quote is the last lines, for an error message.
func (t *tail) quote() string {
	var last []string
	lines := bufio.NewScanner(strings.NewReader(t.String()))
	for lines.Scan() {
		last = append(last, lines.Text())
		if len(last) > 3 {
			last = last[1:]
		}
	}
	if len(last) == 0 {
		return ""
	}
	return ": " + strings.Join(last, " | ")
}

// logFile appends to a file that is opened at the first write; with an empty
// path it drops everything.
type logFile struct {
	path string
	mu   sync.Mutex
	file *os.File
}

func (l *logFile) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.path == "" {
		return len(b), nil
	}
	if l.file == nil {
		file, err := os.OpenFile(l.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
		if err != nil {
			l.path = "" // a full disk must not stop the child's pipe
			return len(b), nil
		}
		l.file = file
	}
	if _, err := l.file.Write(b); err != nil {
		return len(b), nil
	}
	return len(b), nil
}

func (l *logFile) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file != nil {
		_ = l.file.Close()
		l.file = nil
	}
}
