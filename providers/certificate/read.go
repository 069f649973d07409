package certificate

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// File is a certificate file as it was found: its bytes, or why it could not be
// read.
type File struct {
	Name string
	Data []byte
	Err  error
}

// FileSuffix ends the name of each certificate file.
const FileSuffix = ".dsse.json"

// RevocationsFile is left out when a folder is read for certificates.
const RevocationsFile = "revocations" + FileSuffix

// FileName is the usual name of a certificate.
func FileName(profile, contract string) string { return profile + "--" + contract + FileSuffix }

// ReadDir reads all certificate files of a folder, in the order of their names.
// Only the folder itself can make it fail; a file that cannot be read carries
// its own error.
func ReadDir(dir string) ([]File, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var files []File
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), FileSuffix) && e.Name() != RevocationsFile {
			files = append(files, ReadFile(filepath.Join(dir, e.Name())))
		}
	}
	return files, nil
}

// ReadFile reads one certificate file. It never waits: what is not a regular
// file (a symbolic link, a folder, a pipe) is not opened.
func ReadFile(path string) File {
	data, err := readRegular(path, MaxBytes)
	return File{Name: filepath.Base(path), Data: data, Err: err}
}

// ReadRegular reads a small regular file, such as a trust file, in the same way.
func ReadRegular(path string) ([]byte, error) { return readRegular(path, 1<<20) }

func readRegular(path string, most int64) ([]byte, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, plain(err)
	}
	switch mode := info.Mode(); {
	case mode&fs.ModeSymlink != 0:
		return nil, errors.New("is a symbolic link")
	case mode.IsDir():
		return nil, errors.New("is a folder")
	case !mode.IsRegular():
		return nil, errors.New("is not a regular file")
	}
	f, err := openNow(path)
	if err != nil {
		return nil, plain(err)
	}
	defer f.Close()
	if now, err := f.Stat(); err != nil || !os.SameFile(info, now) { // exchanged since
		return nil, errors.New("changed while it was opened")
	}
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err != nil {
		return nil, plain(err)
	}
	if int64(len(data)) > most {
		return nil, fmt.Errorf("is larger than %d bytes", most)
	}
	return data, nil
}

// plain takes the path out of a file error: the caller names the file.
func plain(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
