package history

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// Tail reads a history that is still being written, for who watches a run. Who
// judges reads the whole of it with Scan, which is stricter.
type Tail struct {
	path   string
	file   *os.File
	in     *bufio.Reader
	begun  []byte // a line whose end is not written yet
	intern map[string]string
}

// Follow returns a tail of the history at path, which need not be there yet.
func Follow(path string) *Tail { return &Tail{path: path, intern: map[string]string{}} }

// Next hands to take, in their order, the events that were written since. A line
// that is not whole yet waits for the next call, and so does a file that is not
// there. After an error there is nothing more to read.
func (t *Tail) Next(take func(Event)) error {
	if t.file == nil {
		file, err := os.Open(t.path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("follow history: %w", err)
		}
		t.file, t.in = file, bufio.NewReaderSize(file, 64<<10)
	}
	for {
		piece, err := t.in.ReadSlice('\n')
		t.begun = append(t.begun, piece...)
		if len(t.begun) > MaxLine {
			return fmt.Errorf("follow history: a line is longer than %d bytes", MaxLine)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("follow history: %w", err)
		}
		e, err := readLine(t.begun[:len(t.begun)-1], t.intern)
		if err != nil {
			return fmt.Errorf("follow history: %w", err)
		}
		t.begun = nil
		take(e)
	}
}

// Close lets the file go.
func (t *Tail) Close() error {
	if t.file == nil {
		return nil
	}
	return t.file.Close()
}
