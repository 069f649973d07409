package history

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

// Limits of a stored history. A line or a file beyond them is refused, not cut.
const (
	MaxLine   = 16 << 20
	MaxEvents = 5_000_000
	MaxBytes  = 4 << 30
)

// ReadFile reads a stored history.
func ReadFile(path string) ([]Event, error) {
	var events []Event
	err := ScanFile(path, func(e Event) error {
		events = append(events, e)
		return nil
	})
	return events, err
}

// ScanFile hands the events of a stored history to take, one by one.
func ScanFile(path string, take func(Event) error) error {
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("read history: %w", err)
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil {
		return fmt.Errorf("read history: %w", err)
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("read history: %s is not a file", path)
	}
	if err := Scan(file, take); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// Read reads a history as a whole; see Scan.
func Read(r io.Reader) ([]Event, error) {
	var events []Event
	err := Scan(r, func(e Event) error {
		events = append(events, e)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return events, nil
}

// Scan reads a history strictly: one JSON object a line, in the recorder's own
// form, numbers rising by one, time never falling. The error names the line; an
// error of take ends the scan. An empty history is not an error; judging it is
// inconclusive.
func Scan(r io.Reader, take func(Event) error) error {
	lines := bufio.NewScanner(io.LimitReader(r, MaxBytes))
	lines.Buffer(make([]byte, 0, 64<<10), MaxLine)
	intern := map[string]string{}
	var before Event
	line := 0
	for lines.Scan() {
		line++
		e, err := readLine(lines.Bytes(), intern)
		if err == nil && line > 1 {
			err = follows(before, e)
		}
		if err == nil && line > MaxEvents {
			err = fmt.Errorf("more than %d events", MaxEvents)
		}
		if err == nil {
			err = take(e)
		}
		if err != nil {
			return fmt.Errorf("line %d: %w", line, err)
		}
		before = e
	}
	if err := lines.Err(); err != nil {
		if errors.Is(err, bufio.ErrTooLong) {
			err = fmt.Errorf("longer than %d bytes", MaxLine)
		}
		return fmt.Errorf("line %d: %w", line+1, err)
	}
	return nil
}

func follows(before, e Event) error {
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
