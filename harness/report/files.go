package report

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/interlock-harness/interlock/harness/history"
)

// The files of a report folder.
const (
	HistoryFile  = "history.jsonl"
	ReportFile   = "report.json"
	JUnitFile    = "junit.xml"
	CTRFFile     = "ctrf.json"
	SummaryFile  = "summary.md"
	HTMLFile     = "report.html"
	MatrixFile   = "matrix.json"
	latestFolder = "latest"
)

// ErrTaken: another run has written, or is writing, into the folder.
var ErrTaken = errors.New("holds the report of another run; choose another --out")

// Folder is where one run leaves its evidence.
type Folder struct {
	Dir string
	// Recorder writes history.jsonl.
	Recorder *history.Recorder
	// Page is what report.html shows beside the run.
	Page Page
	// Warning is set by Write: report.html is large, or leaves something out.
	Warning string
}

// DefaultDir is the folder of a run that names none.
func DefaultDir(seed int64, at time.Time) string {
	return filepath.Join("interlock-out", fmt.Sprintf("%s-%d", at.UTC().Format("20060102-150405"), seed))
}

// NewFolder makes dir for one run and opens its history. A folder that already
// holds a history is refused with ErrTaken: evidence is not written over. Where
// dir is "" the folder is DefaultDir, and interlock-out/latest points to it.
func NewFolder(dir string, seed int64, at time.Time) (*Folder, error) {
	byDefault := dir == ""
	if byDefault {
		dir = DefaultDir(seed, at)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("report folder: %w", err)
	}
	for _, name := range []string{ReportFile, HistoryFile} {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			return nil, fmt.Errorf("%s %w", dir, ErrTaken)
		}
	}
	// Creating the history exclusively is the lock between two runs.
	rec, err := history.Create(filepath.Join(dir, HistoryFile))
	if errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("%s %w", dir, ErrTaken)
	}
	if err != nil {
		return nil, fmt.Errorf("report folder: %w", err)
	}
	if byDefault {
		pointLatest(dir)
	}
	return &Folder{Dir: dir, Recorder: rec}, nil
}

// pointLatest moves the symbolic link in one step. A file system without links
// loses the comfort, not the report.
func pointLatest(dir string) {
	link := filepath.Join(filepath.Dir(dir), latestFolder)
	next := fmt.Sprintf("%s.%d", link, os.Getpid())
	_ = os.Remove(next)
	if os.Symlink(filepath.Base(dir), next) == nil && os.Rename(next, link) != nil {
		_ = os.Remove(next)
	}
}

// Shown is the folder as a person types it: by latest where it points here.
func (f *Folder) Shown(name string) string {
	link := filepath.Join(filepath.Dir(f.Dir), latestFolder)
	if to, err := os.Readlink(link); err == nil && to == filepath.Base(f.Dir) {
		return filepath.Join(link, name)
	}
	return filepath.Join(f.Dir, name)
}

// WriteFile writes a file as a whole or not at all.
func WriteFile(path string, data []byte) error {
	return write(filepath.Dir(path), filepath.Base(path), data)
}

// write puts a file into the folder as a whole or not at all: a new file is
// written, synced and renamed. Whatever goes wrong leaves no half file behind.
func write(dir, name string, data []byte) (err error) {
	file, err := os.CreateTemp(dir, "."+name+".*")
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	defer func() {
		if err != nil {
			_ = file.Close()
			_ = os.Remove(file.Name())
			err = fmt.Errorf("write %s: %w", name, err)
		}
	}()
	if _, err = file.Write(data); err != nil {
		return err
	}
	if err = file.Chmod(0o644); err != nil {
		return err
	}
	if err = file.Sync(); err != nil {
		return err
	}
	if err = file.Close(); err != nil {
		return err
	}
	if err = os.Rename(file.Name(), filepath.Join(dir, name)); err != nil {
		return err
	}
	return syncDir(dir)
}

// syncDir makes a rename survive a power cut.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer func() { _ = d.Close() }()
	_ = d.Sync() // not every file system can
	return nil
}

// WriteJSON writes v, indented, as the file name of dir: whole or not at all.
func WriteJSON(dir, name string, v any) error {
	data, err := indent(v)
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return write(dir, name, data)
}
