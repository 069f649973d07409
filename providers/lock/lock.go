// Package lock keeps a folder of fixtures as it was meant: a file lock.json with
// the SHA-256 of every other file. A folder with a lock is used whole and unchanged
// or not at all; a folder without one is its owner's business.
package lock

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/interlock-harness/interlock/providers/strictjson"
)

// File is the name of the lock in its folder.
const File = "lock.json"

// maxBytes bounds a lock file.
const maxBytes = 4 << 20

// ChangedError: a folder is not as its lock says.
type ChangedError struct {
	Folder   string
	Problems []string // one a file, sorted by name
	Renew    string   // the command that locks the folder as it is now
}

func (e *ChangedError) Error() string {
	more := ""
	if n := len(e.Problems); n > 3 {
		more = fmt.Sprintf("; and %d more", n-3)
	}
	return fmt.Sprintf("fixtures-changed: %s: %s%s. If that is meant, renew the lock: %s",
		e.Folder, strings.Join(e.Problems[:min(3, len(e.Problems))], "; "), more, e.Renew)
}

// Check compares the files of folder dir with its lock. It returns nil where there
// is no lock, and a *ChangedError that names each file which was changed, is missing
// or is one too many. shown is the folder as its user knows it.
func Check(fsys fs.FS, dir, shown string) error {
	text, err := fs.ReadFile(fsys, path.Join(dir, File))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	changed := &ChangedError{Folder: shown, Renew: "interlock lock " + shown}
	if err != nil {
		return fmt.Errorf("%s of %s cannot be read: %w", File, shown, err)
	}
	locked, err := parse(text)
	if err != nil {
		changed.Problems = []string{fmt.Sprintf("%s is no lock: %v", File, err)}
		return changed
	}
	found, err := digests(fsys, dir)
	if err != nil {
		return fmt.Errorf("the files of %s cannot be read: %w", shown, err)
	}
	for _, name := range slices.Sorted(maps.Keys(locked)) {
		if sum, ok := found[name]; !ok {
			changed.Problems = append(changed.Problems, fmt.Sprintf("%q is missing", name))
		} else if sum != locked[name] {
			changed.Problems = append(changed.Problems, fmt.Sprintf("%q was changed", name))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(found)) {
		if _, ok := locked[name]; !ok {
			changed.Problems = append(changed.Problems, fmt.Sprintf("%q is not locked", name))
		}
	}
	if len(changed.Problems) == 0 {
		return nil
	}
	return changed
}

// Make is the lock of folder dir as it is.
func Make(fsys fs.FS, dir string) ([]byte, error) {
	found, err := digests(fsys, dir)
	if err != nil {
		return nil, err
	}
	text, err := json.MarshalIndent(map[string]any{"files": found}, "", "  ")
	return append(text, '\n'), err
}

// digests are the SHA-256 of all files of a folder but its lock, by name.
func digests(fsys fs.FS, dir string) (map[string]string, error) {
	found := map[string]string{}
	err := fs.WalkDir(fsys, dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || name == path.Join(dir, File) {
			return err
		}
		data, err := fs.ReadFile(fsys, name)
		if err != nil {
			return err
		}
		sum := sha256.Sum256(data)
		if dir != "." {
			name = strings.TrimPrefix(name, dir+"/")
		}
		found[name] = hex.EncodeToString(sum[:])
		return nil
	})
	return found, err
}

func parse(text []byte) (map[string]string, error) {
	tree, err := strictjson.Decode(text, strictjson.Limits{MaxBytes: maxBytes, MaxDepth: 2, MaxKeys: 100_000})
	if err != nil {
		return nil, err
	}
	object, _ := tree.(map[string]any)
	files, ok := object["files"].(map[string]any)
	if !ok || len(object) != 1 {
		return nil, errors.New("an object with files, and nothing else, is wanted")
	}
	locked := map[string]string{}
	for name, v := range files {
		sum, _ := v.(string)
		if raw, err := hex.DecodeString(sum); err != nil || len(raw) != sha256.Size {
			return nil, fmt.Errorf("the digest of %.80q is not 64 hexadecimal digits", name)
		}
		locked[name] = sum
	}
	return locked, nil
}
