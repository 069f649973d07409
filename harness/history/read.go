package history

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

// Limits of a stored history. A line or a file beyond them is refused, not cut.
const (
	MaxLine   = 1 << 20
	MaxEvents = 5_000_000
	MaxBytes  = 4 << 30
)

// ReadFile reads a stored history.
func ReadFile(path string) ([]Event, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read history: %w", err)
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil {
		return nil, fmt.Errorf("read history: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("read history: %s is not a file", path)
	}
	events, err := Read(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return events, nil
}

// Read reads a history strictly: one JSON object a line, known fields and kinds
// only, numbers rising by one from the first, time never falling. The error
// names the line. An empty history is not an error; judging it is inconclusive.
func Read(r io.Reader) ([]Event, error) {
	lines := bufio.NewScanner(io.LimitReader(r, MaxBytes))
	lines.Buffer(make([]byte, 0, 64<<10), MaxLine)
	var (
		events []Event
		intern = map[string]string{}
		line   int
	)
	for lines.Scan() {
		line++
		e, err := readLine(lines.Bytes())
		if err == nil {
			err = follows(events, e)
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
		for _, s := range []*string{&e.Scenario, &e.Lane, &e.Actor, &e.Op, &e.Owner, &e.Key, &e.Job, &e.Attempt} {
			if *s == "" {
				continue
			}
			if same, ok := intern[*s]; ok {
				*s = same // one copy of each name, however many events carry it
			} else {
				intern[*s] = *s
			}
		}
		events = append(events, e)
		if len(events) > MaxEvents {
			return nil, fmt.Errorf("line %d: more than %d events", line, MaxEvents)
		}
	}
	if err := lines.Err(); err != nil {
		if errors.Is(err, bufio.ErrTooLong) {
			err = fmt.Errorf("longer than %d bytes", MaxLine)
		}
		return nil, fmt.Errorf("line %d: %w", line+1, err)
	}
	return events, nil
}

func readLine(line []byte) (Event, error) {
	var e Event
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&e); err != nil {
		return e, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return e, errors.New("more than one JSON value")
	}
	// A field twice, in another case or in another order reads differently in
	// another reader: only the recorder's own form is a history.
	if own, err := json.Marshal(e); err != nil || !bytes.Equal(own, line) {
		return e, errors.New("not in the form the recorder writes (a field twice, in other case, order or spacing)")
	}
	if !known[e.Kind] {
		return e, fmt.Errorf("unknown kind %q", string(e.Kind))
	}
	if len(e.Data) > 0 && firstByte(e.Data) != '{' {
		return e, errors.New("data is not an object")
	}
	if e.N < 1 || e.AtUS < 0 || e.Call < 0 || e.Status < 0 || e.Status > 999 {
		return e, errors.New("a number out of range")
	}
	return e, nil
}

func follows(events []Event, e Event) error {
	if len(events) == 0 {
		return nil
	}
	before := events[len(events)-1]
	if e.N != before.N+1 {
		return fmt.Errorf("event %d after event %d: one is missing or out of order", e.N, before.N)
	}
	if e.AtUS < before.AtUS {
		return fmt.Errorf("event %d lies %d us before event %d", e.N, before.AtUS-e.AtUS, before.N)
	}
	return nil
}

// Write writes events as JSON Lines.
func Write(w io.Writer, events []Event) error {
	out := bufio.NewWriter(w)
	for _, e := range events {
		line, err := json.Marshal(e)
		if err != nil {
			return fmt.Errorf("write event %d: %w", e.N, err)
		}
		if _, err := out.Write(append(line, '\n')); err != nil {
			return fmt.Errorf("write history: %w", err)
		}
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write history: %w", err)
	}
	return nil
}
