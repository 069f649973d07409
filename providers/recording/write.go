package recording

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// Names of the files of a recording.
const (
	metaFile   = "meta.json"
	headerFile = "response.headers.json"
	bodyFile   = "response.body"
	streamFile = "response.sse"
	chunksFile = "chunks.jsonl"
)

func (m Meta) body() string {
	if m.Stream {
		return streamFile
	}
	return bodyFile
}

// chunk is one line of chunks.jsonl.
type chunk struct {
	Offset int     `json:"offset"`
	Length int     `json:"length"`
	TMS    float64 `json:"t_ms"` // since the request was begun
}

// Write puts a recording below dir, as the next number of its case, and returns
// its folder. The folder appears as a whole or not at all.
func Write(dir string, r Recording) (string, error) {
	if err := r.check(r.Profile); err != nil {
		return "", err
	}
	above := filepath.Join(dir, r.Profile, r.Case)
	if err := os.MkdirAll(above, 0o755); err != nil {
		return "", err
	}
	made, err := os.MkdirTemp(above, ".recording-*")
	if err != nil {
		return "", err
	}
	done := false
	defer func() {
		if !done {
			_ = os.RemoveAll(made)
		}
	}()
	var chunks bytes.Buffer
	e := json.NewEncoder(&chunks)
	for _, c := range r.Chunks {
		if err := e.Encode(chunk{c.Offset, c.Length, float64(c.At.Microseconds()) / 1000}); err != nil {
			return "", err
		}
	}
	for name, v := range map[string]any{metaFile: r.Meta, headerFile: r.Header, r.body(): r.Body, chunksFile: chunks.Bytes()} {
		data, ok := v.([]byte)
		if !ok {
			if data, err = json.MarshalIndent(v, "", "  "); err != nil {
				return "", err
			}
			data = append(data, '\n')
		}
		if err := os.WriteFile(filepath.Join(made, name), data, 0o644); err != nil {
			return "", err
		}
	}
	if err := os.Chmod(made, 0o755); err != nil {
		return "", err
	}
	for n := 1; ; n++ {
		to := filepath.Join(above, strconv.Itoa(n))
		if _, err := os.Lstat(to); err == nil {
			continue
		} else if !errors.Is(err, os.ErrNotExist) {
			return "", err
		}
		if err := os.Rename(made, to); err != nil {
			return "", fmt.Errorf("%s: %w", to, err)
		}
		done = true
		return to, nil
	}
}

func duration(ms float64) time.Duration { return time.Duration(ms * float64(time.Millisecond)) }
