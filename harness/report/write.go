package report

import (
	"fmt"
	"path/filepath"

	"github.com/interlock-harness/interlock/harness/history"
)

// Write closes the history and writes all files of the run beside it. The
// history is on disk before anything that was judged by it.
func (f *Folder) Write(r *Run) error {
	if err := f.Recorder.Close(); err != nil {
		return err
	}
	warning, err := WriteDir(f.Dir, r, f.Recorder.Events(), f.Page)
	f.Warning = warning
	return err
}

// WriteDir writes the files of r into dir, which already holds the history whose
// events are given.
func WriteDir(dir string, r *Run, all []history.Event, p Page) (warning string, err error) {
	events := ByPlay(all)
	stored, err := storedOf(r, dir)
	if err != nil {
		return "", err
	}
	matrix := func() ([]byte, error) {
		if p.Matrix == nil {
			return nil, nil
		}
		return indent(p.Matrix)
	}
	for _, file := range []struct {
		name string
		make func() ([]byte, error)
	}{
		{JUnitFile, func() ([]byte, error) { return junit(r, events) }},
		{CTRFFile, func() ([]byte, error) { return ctrf(r, events) }},
		{SummaryFile, func() ([]byte, error) { return markdown(r, events), nil }},
		{MatrixFile, matrix},
		{HTMLFile, func() (page []byte, err error) {
			page, warning, err = HTML(r, all, dir, p)
			return page, err
		}},
		{ReportFile, func() ([]byte, error) { return indent(stored) }}, // last: it says that the folder is whole
	} {
		data, err := file.make()
		if err != nil {
			return "", fmt.Errorf("write %s: %w", file.name, err)
		}
		if data == nil {
			continue
		}
		if err := write(dir, file.name, data); err != nil {
			return "", err
		}
	}
	return warning, nil
}

// ByPlay sorts events by the play they belong to.
func ByPlay(all []history.Event) map[string][]history.Event {
	by := map[string][]history.Event{}
	for _, e := range all {
		by[e.Scenario] = append(by[e.Scenario], e)
	}
	return by
}

// ReadHistory reads the stored history of a folder, by play.
func ReadHistory(dir string) (map[string][]history.Event, error) {
	all, err := history.ReadFile(filepath.Join(dir, HistoryFile))
	if err != nil {
		return nil, err
	}
	return ByPlay(all), nil
}
