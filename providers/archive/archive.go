// Package archive packs a handful of files into one gzipped tar and reads such an
// archive from somebody else. Reading believes nothing: one gzip member, regular
// files with plain names, no name twice in any letter case, bounded in number and
// size, and nothing behind the end. Nothing is ever written to disk.
package archive

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Bounds of an archive.
const (
	MaxBytes   = 64 << 20 // of all files, unpacked
	MaxEntries = 10_000
	maxName    = 200
)

// ErrRefused is the error of an archive that is not of the strict form. What it
// says shows names quoted.
var ErrRefused = errors.New("archive refused")

func refuse(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrRefused}, args...)...)
}

// nameForm leaves out everything that a file system, a terminal or a shell could
// take for something else, and all letters that Unicode writes in two ways.
var nameForm = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._@-]*(?:/[A-Za-z0-9_][A-Za-z0-9._@-]*)*$`)

func checkName(name string) error {
	switch {
	case len(name) > maxName:
		return refuse("a name has more than %d bytes", maxName)
	case !nameForm.MatchString(name), path.Clean(name) != name:
		return refuse("%.80q is no plain name", name)
	}
	return nil
}

// Write packs files, in the order of their names and without any date, so that the
// same files give the same bytes.
func Write(w io.Writer, files map[string][]byte) error {
	zip := gzip.NewWriter(w)
	out := tar.NewWriter(zip)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := checkName(name); err != nil {
			return err
		}
		h := &tar.Header{Name: name, Mode: 0o644, Size: int64(len(files[name])), Typeflag: tar.TypeReg, ModTime: time.Unix(0, 0), Format: tar.FormatUSTAR}
		if err := out.WriteHeader(h); err != nil {
			return err
		}
		if _, err := out.Write(files[name]); err != nil {
			return err
		}
	}
	return errors.Join(out.Close(), zip.Close())
}

// Read unpacks an archive into memory. The error wraps ErrRefused.
func Read(data []byte) (map[string][]byte, error) {
	packed := bytes.NewReader(data)
	zip, err := gzip.NewReader(packed)
	if err != nil {
		return nil, refuse("it is no gzip file")
	}
	zip.Multistream(false)
	plain := &bounded{from: zip, left: MaxBytes + MaxEntries*1024}
	files := map[string][]byte{}
	folded := map[string]bool{}
	in := tar.NewReader(plain)
	left := int64(MaxBytes)
	for {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, refuse("it is no whole tar file: %v", err)
		}
		if err := checkEntry(h, len(files)); err != nil {
			return nil, err
		}
		if fold := strings.ToLower(h.Name); folded[fold] {
			return nil, refuse("%q stands there twice, in some letter case", h.Name)
		} else {
			folded[fold] = true
		}
		if h.Size > left {
			return nil, refuse("more than %d bytes", MaxBytes)
		}
		content, err := io.ReadAll(io.LimitReader(in, left+1))
		if err != nil || int64(len(content)) != h.Size {
			return nil, refuse("%q is shorter than its header says", h.Name)
		}
		left -= h.Size
		files[h.Name] = content
	}
	if rest, err := io.ReadAll(plain); err != nil || len(bytes.Trim(rest, "\x00")) > 0 {
		return nil, refuse("something stands behind its end")
	}
	if packed.Len() > 0 {
		return nil, refuse("something stands behind its end")
	}
	return files, nil
}

func checkEntry(h *tar.Header, before int) error {
	if before >= MaxEntries {
		return refuse("more than %d entries", MaxEntries)
	}
	if err := checkName(h.Name); err != nil {
		return err
	}
	if h.Typeflag != tar.TypeReg {
		return refuse("%q is no regular file", h.Name)
	}
	if h.Mode&^0o777 != 0 {
		return refuse("%q has special mode bits", h.Name)
	}
	if h.Size < 0 {
		return refuse("%q has no size", h.Name)
	}
	return nil
}

// bounded reads at most so many bytes, and then says so.
type bounded struct {
	from io.Reader
	left int64
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, refuse("more than %d bytes", MaxBytes)
	}
	n, err := b.from.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}
