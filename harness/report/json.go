package report

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/interlock-harness/interlock/harness/invariant"
)

// Format names the shape of report.json; it changes when the shape does.
const Format = "interlock-report/1"

// Stored is report.json: the run, what follows from it, and the digest of the
// history that it was judged by.
type Stored struct {
	Format    string            `json:"format"`
	Verdict   invariant.Verdict `json:"verdict"`
	ExitCode  int               `json:"exit_code"`
	Counts    Counts            `json:"counts"`
	History   Digest            `json:"history"`
	Scenarios []Scenario        `json:"scenarios"`
	Run       Run               `json:"run"`
}

// Digest ties a report to the bytes of its history.
type Digest struct {
	SHA256 string `json:"sha256"`
	Bytes  int64  `json:"bytes"`
}

func digestFile(path string) (Digest, error) {
	file, err := os.Open(path)
	if err != nil {
		return Digest{}, err
	}
	defer func() { _ = file.Close() }()
	hash := sha256.New()
	n, err := io.Copy(hash, file)
	if err != nil {
		return Digest{}, err
	}
	return Digest{hex.EncodeToString(hash.Sum(nil)), n}, nil
}

// storedOf is report.json of r over the history in dir.
func storedOf(r *Run, dir string) (Stored, error) {
	d, err := digestFile(filepath.Join(dir, HistoryFile))
	if err != nil {
		return Stored{}, fmt.Errorf("digest of the history: %w", err)
	}
	return Stored{
		Format: Format, Verdict: r.Verdict(), ExitCode: ExitCode(r.Verdict()), Counts: r.Counts(),
		History: d, Scenarios: r.Scenarios(), Run: *r,
	}, nil
}

// maxReport bounds report.json when it is read.
const maxReport = 64 << 20

// Load reads report.json of a folder strictly.
func Load(dir string) (Stored, error) {
	var s Stored
	path := filepath.Join(dir, ReportFile)
	info, err := os.Stat(path)
	if err != nil {
		return s, fmt.Errorf("read report: %w", err)
	}
	if !info.Mode().IsRegular() || info.Size() > maxReport {
		return s, fmt.Errorf("read report: %s is no file of at most %d MiB", path, maxReport>>20)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return s, fmt.Errorf("read report: %w", err)
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&s); err != nil {
		return s, fmt.Errorf("read report: %s: %w", path, err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return s, fmt.Errorf("read report: %s holds more than one JSON value", path)
	}
	if s.Format != Format {
		return s, fmt.Errorf("read report: %s is in format %q, this program reads %s", path, s.Format, Format)
	}
	return s, nil
}

// MarshalJSON writes a duration as milliseconds.
func (m Milliseconds) MarshalJSON() ([]byte, error) {
	return []byte(itoa(time.Duration(m).Milliseconds())), nil
}

// UnmarshalJSON reads it back.
func (m *Milliseconds) UnmarshalJSON(raw []byte) error {
	var n int64
	if err := json.Unmarshal(raw, &n); err != nil {
		return err
	}
	*m = Milliseconds(time.Duration(n) * time.Millisecond)
	return nil
}

func indent(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetIndent("", " ")
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
