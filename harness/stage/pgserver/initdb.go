package pgserver

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// layout is part of the cache key: raise it when the way in which a cluster
// is initialised changes.
const layout = "3"

// initialise makes a cluster in data, from a kept copy when there is one
// (0.1 s), with initdb otherwise (1 s). It returns the copy that was taken, "" for
// none: see discard.
func initialise(ctx context.Context, bin, data, cache string, as *account) (from string, err error) {
	kept := ""
	if cache != "off" {
		kept = keptCluster(bin, cache)
	}
	if kept != "" {
		if err := clone(kept, data); err == nil {
			return kept, as.own(data)
		}
		if err := os.RemoveAll(data); err != nil { // half a copy
			return "", err
		}
	}
	if err := initdb(ctx, bin, data, as); err != nil {
		return "", err
	}
	if kept != "" {
		keep(data, kept) // next time is quicker; a full disk or the like is no failure
	}
	return "", nil
}

// discard throws a kept cluster away from which no server would start, so that it
// spoils this run only by the time it took. Who copies it now sees half of it
// and makes his own.
func discard(kept string) error {
	away, err := os.MkdirTemp(filepath.Dir(kept), "half-")
	if err != nil {
		return err
	}
	err = os.Rename(kept, filepath.Join(away, "data"))
	if errors.Is(err, fs.ErrNotExist) { // somebody else was quicker
		err = nil
	}
	return errors.Join(err, os.RemoveAll(away))
}

func initdb(ctx context.Context, bin, data string, as *account) error {
	ctx, cancel := context.WithTimeout(ctx, toStart)
	defer cancel()
	// Local connections go through a folder that only the owner enters; over
	// TCP anybody on this machine could come, so there a password is asked.
	cmd := exec.CommandContext(ctx, filepath.Join(bin, "initdb"), "-D", data, "-U", "postgres", "-E", "UTF8", "--locale=C",
		"--auth-local=trust", "--auth-host=scram-sha-256", "--no-sync", "--no-instructions",
		"--wal-segsize=1") // a small first segment: the cluster is copied often
	cmd.SysProcAttr = as.attr()
	cmd.Dir = filepath.Dir(data)
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("initdb: %w: %s", err, lastLine(said.String()))
	}
	return nil
}

// keptCluster is where the initialised cluster of this version is kept: a
// folder that may not exist yet, "" when there is no place for one.
func keptCluster(bin, cache string) string {
	if cache == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return ""
		}
		cache = filepath.Join(user, "interlock")
	}
	// Size and time of the program stand for its version: asking it takes as long
	// as copying half a cluster.
	info, err := os.Stat(filepath.Join(bin, "postgres"))
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%s\x00%d\x00%d", layout, bin, info.Size(), info.ModTime().UnixNano()))
	return filepath.Join(cache, "cluster-"+hex.EncodeToString(sum[:8]))
}

// sizeFile stands in a kept cluster and says how many files and bytes it has
// besides: one that lost some is not copied.
const sizeFile = "interlock-size"

// clone copies a kept cluster. It fails when there is none, and throws one away
// that is not whole.
func clone(kept, data string) error {
	want, err := os.ReadFile(filepath.Join(kept, sizeFile))
	if err == nil {
		now := time.Now()
		_ = os.Chtimes(kept, now, now) // see prune
		var got size
		if got, err = copyTree(kept, data); err == nil {
			if got = got.without(want); got.String() != string(want) {
				err = fmt.Errorf("%s holds %s, not %s", kept, got, want)
			}
		}
	}
	if err != nil {
		return errors.Join(err, discard(kept))
	}
	return os.Remove(filepath.Join(data, sizeFile))
}

// keep stores a copy of a fresh cluster under kept. It appears there whole
// or not at all.
func keep(data, kept string) {
	if os.MkdirAll(filepath.Dir(kept), 0o700) != nil {
		return
	}
	half, err := os.MkdirTemp(filepath.Dir(kept), "half-")
	if err != nil {
		return
	}
	defer func() { _ = os.RemoveAll(half) }()
	copied, err := copyTree(data, filepath.Join(half, "data"))
	if err == nil {
		err = os.WriteFile(filepath.Join(half, "data", sizeFile), []byte(copied.String()), 0o600)
	}
	if err == nil {
		_ = os.Rename(filepath.Join(half, "data"), kept)
	}
	prune(filepath.Dir(kept))
}

// size is how much a cluster is.
type size struct{ files, bytes int64 }

func (s size) String() string { return fmt.Sprintf("%d files, %d bytes", s.files, s.bytes) }

// without takes the file that says the size off.
func (s size) without(file []byte) size { return size{s.files - 1, s.bytes - int64(len(file))} }

// unused is after how long a kept cluster is thrown away: its server has been
// upgraded since.
const unused = 30 * 24 * time.Hour

func prune(cache string) {
	all, _ := filepath.Glob(filepath.Join(cache, "cluster-*"))
	for _, dir := range all {
		if info, err := os.Stat(dir); err == nil && time.Since(info.ModTime()) > unused {
			_ = os.RemoveAll(dir)
		}
	}
}

// copiers is how many files are copied at once: making a file waits for the disk's
// books, not for a processor.
const copiers = 4

// copyTree copies a folder of plain files and folders for our eyes only.
func copyTree(from, to string) (size, error) {
	files := make(chan [2]string)
	sizes, failed := make(chan size, copiers), make(chan error, copiers)
	for range copiers {
		go func() {
			var done size
			var first error
			for f := range files {
				if first != nil {
					continue
				}
				var n int64
				n, first = copyFile(f[0], f[1])
				done.files, done.bytes = done.files+1, done.bytes+n
			}
			sizes <- done
			failed <- first
		}()
	}
	err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, rel)
		switch {
		case d.IsDir():
			return os.Mkdir(target, 0o700)
		case d.Type().IsRegular():
			files <- [2]string{path, target}
			return nil
		default:
			return fmt.Errorf("copy %s: neither a file nor a folder", path)
		}
	})
	close(files)
	var all size
	for range copiers {
		part := <-sizes
		all.files, all.bytes = all.files+part.files, all.bytes+part.bytes
		err = errors.Join(err, <-failed)
	}
	return all, err
}

func copyFile(from, to string) (n int64, err error) {
	in, err := os.Open(from)
	if err != nil {
		return 0, err
	}
	defer func() { _ = in.Close() }()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	return out.ReadFrom(in) // the kernel copies; on some file systems it only shares
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}
