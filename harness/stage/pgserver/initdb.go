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
const layout = "2"

// initialise makes a cluster in data, from a kept copy when there is one
// (0.1 s), with initdb otherwise (1 s).
func initialise(ctx context.Context, bin, data, cache string, as *account) error {
	kept := ""
	if cache != "off" {
		kept = keptCluster(bin, cache)
	}
	if kept != "" {
		if err := clone(kept, data); err == nil {
			return as.own(data)
		}
		if err := os.RemoveAll(data); err != nil { // half a copy
			return err
		}
	}
	if err := initdb(ctx, bin, data, as); err != nil {
		return err
	}
	if kept != "" {
		keep(data, kept) // next time is quicker; a full disk or the like is no failure
	}
	return nil
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

// clone copies a kept cluster. It fails when there is none.
func clone(kept, data string) error {
	if _, err := os.Stat(filepath.Join(kept, "PG_VERSION")); err != nil {
		return err
	}
	now := time.Now()
	_ = os.Chtimes(kept, now, now) // see prune
	return copyTree(kept, data)
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
	if copyTree(data, filepath.Join(half, "data")) == nil {
		_ = os.Rename(filepath.Join(half, "data"), kept)
	}
	prune(filepath.Dir(kept))
}

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

// copyTree copies a folder of plain files and folders for our eyes only.
func copyTree(from, to string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
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
			return copyFile(path, target)
		default:
			return fmt.Errorf("copy %s: neither a file nor a folder", path)
		}
	})
}

func copyFile(from, to string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	_, err = out.ReadFrom(in) // the kernel copies; on some file systems it only shares
	return err
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}
