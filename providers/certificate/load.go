package certificate

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Sources are the files that a gate goes by.
type Sources struct {
	Certificates string // a folder, or one certificate file
	Trust        string // a trust file; the revocation list stands beside it
	Seen         string // the memory of the gate; empty for none
}

// Names of the files that stand beside certificates unless told otherwise.
const (
	TrustFile = "trust.json"
	SeenFile  = "gate-state.json"
)

// SourcesIn are the usual files of one folder.
func SourcesIn(dir string) Sources {
	return Sources{Certificates: dir, Trust: filepath.Join(dir, TrustFile), Seen: filepath.Join(dir, SeenFile)}
}

// Read collects the evidence, all but what is deployed. What is not there is
// absent; what is there and cannot be read carries its error, so that the gate
// can say so. Only a folder of certificates that exists and cannot be listed, and
// a memory that is damaged, are errors of their own.
func (s Sources) Read() (Evidence, error) {
	var e Evidence
	info, err := os.Lstat(s.Certificates)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return e, err
	case info.IsDir():
		if e.Files, err = ReadDir(s.Certificates); err != nil {
			return e, err
		}
	default:
		e.Files = []File{ReadFile(s.Certificates)}
	}
	data, err := ReadRegular(s.Trust)
	if err == nil {
		e.Trust, err = ReadTrust(data)
	}
	e.TrustErr = err
	if e.Trust != nil && e.Trust.Revocations != nil {
		e.Revocations, e.RevocationsErr = ReadRegular(filepath.Join(filepath.Dir(s.Trust), filepath.Base(e.Trust.Revocations.File)))
	}
	if s.Seen == "" {
		return e, nil
	}
	data, err = ReadRegular(s.Seen)
	if errors.Is(err, fs.ErrNotExist) {
		return e, nil
	}
	if err == nil {
		e.Seen, err = ReadSeen(data)
	}
	return e, err
}

// Refuses says why from may not fail over to to; nothing means that it may. It is
// Ask for callers that need the reasons only.
func (g *Gate) Refuses(q Question) []string {
	var reasons []string
	for _, r := range g.Ask(q).Reasons {
		reasons = append(reasons, string(r.Code)+": "+r.Sentence)
	}
	return reasons
}
