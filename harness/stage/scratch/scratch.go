// Package scratch makes throw-away folders that name their owner, so that a
// later run can remove what a crashed one left behind and nothing else.
//
// The rule it keeps: a folder is removed only when it carries our marker file
// and the process named there is dead, that is, no process with that id
// started at that time.
package scratch

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

const (
	prefix = "interlock-"
	marker = "interlock-owner.json"
)

// Owner is who made a folder.
type Owner struct {
	Product string `json:"product"`
	PID     int    `json:"pid"`
	Started string `json:"started"` // opaque: see started
	Purpose string `json:"purpose"`
}

// Me is the owner that stands for this process.
func Me(purpose string) Owner {
	s, _ := started(os.Getpid())
	return Owner{Product: "interlock", PID: os.Getpid(), Started: s, Purpose: purpose}
}

// Alive says whether the owner still runs. When that cannot be found out it
// says yes: better a folder too many than one removed under a running stage.
func (o Owner) Alive() bool {
	if !exists(o.PID) {
		return false
	}
	s, err := started(o.PID)
	return err != nil || s == o.Started
}

// New makes an empty folder below parent ("" for the usual temporary folder)
// that others may enter but not list, and marks it as owned by this process.
func New(parent, purpose string) (string, error) {
	if parent == "" {
		parent = Parent()
	}
	dir, err := os.MkdirTemp(parent, prefix)
	if err != nil {
		return "", fmt.Errorf("make a throw-away folder: %w", err)
	}
	// An unprivileged PostgreSQL must be able to pass through it.
	if err := os.Chmod(dir, 0o711); err != nil {
		return "", errors.Join(err, os.RemoveAll(dir))
	}
	text, err := json.Marshal(Me(purpose))
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, marker), append(text, '\n'), 0o600)
	}
	if err != nil {
		return "", errors.Join(fmt.Errorf("mark %s: %w", dir, err), os.RemoveAll(dir))
	}
	return dir, nil
}

// Keep takes the mark off a folder of ours: no run removes it any more.
func Keep(dir string) error { return os.Remove(filepath.Join(dir, marker)) }

// Parent is the folder below which throw-away folders are made: the
// temporary folder, unless other users cannot enter it.
func Parent() string {
	tmp := os.TempDir()
	for dir := tmp; ; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		if err != nil || (os.Geteuid() == 0 && info.Mode().Perm()&0o001 == 0) {
			return "/tmp"
		}
		if dir == filepath.Dir(dir) {
			return tmp
		}
	}
}

// Sweep removes the folders below parent ("" as in New) whose owner is dead.
// Before that it calls end with the folder, which stops whatever still runs
// in there. It returns the folders that it removed.
func Sweep(parent string, end func(dir string) error) ([]string, error) {
	if parent == "" {
		parent = Parent()
	}
	entries, err := os.ReadDir(parent)
	if err != nil {
		return nil, fmt.Errorf("look for left-over folders: %w", err)
	}
	var removed []string
	var failed error
	for _, e := range entries {
		dir := filepath.Join(parent, e.Name())
		if !e.IsDir() || !strings.HasPrefix(e.Name(), prefix) || !abandoned(dir) {
			continue
		}
		if end != nil {
			if err := end(dir); err != nil {
				failed = errors.Join(failed, err)
				continue
			}
		}
		if err := os.RemoveAll(dir); err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		removed = append(removed, dir)
	}
	return removed, failed
}

// abandoned says whether dir carries our marker, belongs to us, and its
// owner is dead.
func abandoned(dir string) bool {
	info, err := os.Lstat(filepath.Join(dir, marker))
	if err != nil || !info.Mode().IsRegular() || !ours(info) {
		return false
	}
	text, err := os.ReadFile(filepath.Join(dir, marker))
	if err != nil {
		return false
	}
	var o Owner
	if json.Unmarshal(text, &o) != nil || o.Product != "interlock" || o.PID <= 0 {
		return false
	}
	return !o.Alive()
}
