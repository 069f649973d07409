package recording

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"net/http"
	"path"
	"strings"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/strictjson"
)

// Set are the recordings of one profile.
type Set struct {
	Profile string
	byKey   map[Key]Recording
}

// Len counts them.
func (s *Set) Len() int {
	if s == nil {
		return 0
	}
	return len(s.byKey)
}

// Find returns the recording of a request, if there is one.
func (s *Set) Find(k Key) (Recording, bool) {
	if s == nil {
		return Recording{}, false
	}
	r, ok := s.byKey[k]
	return r, ok
}

// maxRecordings bounds the recordings of one profile.
const maxRecordings = 10_000

// Read reads all recordings of a profile under fsys, which must be rooted (such as
// os.Root.FS), so that no link leads out of it. Of two recordings of one request
// the one with the higher number counts. Errors are *Error or of the file system;
// without any recording it is fs.ErrNotExist.
func Read(fsys fs.FS, profile string) (*Set, error) {
	if !nameForm.MatchString(profile) {
		return nil, &Error{profile, "is no name of a profile"}
	}
	s := &Set{Profile: profile, byKey: map[Key]Recording{}}
	cases, err := fs.ReadDir(fsys, profile)
	if err != nil {
		return nil, err
	}
	read := 0
	for _, c := range cases {
		if !c.IsDir() || strings.HasPrefix(c.Name(), ".") {
			return nil, &Error{path.Join(profile, c.Name()), "is no folder of a case"}
		}
		numbers, err := fs.ReadDir(fsys, path.Join(profile, c.Name()))
		if err != nil {
			return nil, err
		}
		for _, n := range numbers {
			if strings.HasPrefix(n.Name(), ".recording-") { // of a run that was ended
				continue
			}
			if read++; read > maxRecordings {
				return nil, &Error{profile, fmt.Sprintf("more than %d recordings", maxRecordings)}
			}
			r, err := One(fsys, path.Join(profile, c.Name(), n.Name()))
			if err != nil {
				return nil, err
			}
			s.byKey[r.Key()] = r
		}
	}
	return s, nil
}

// One reads one recording.
func One(fsys fs.FS, dir string) (Recording, error) {
	var r Recording
	var lines []byte
	at := path.Join(dir, metaFile)
	if err := readJSON(fsys, at, &r.Meta); err != nil {
		return r, err
	}
	if r.Profile != path.Base(path.Dir(path.Dir(dir))) || r.Case != path.Base(path.Dir(dir)) {
		return r, &Error{at, "profile and case are not those of its folder"}
	}
	if err := readJSON(fsys, path.Join(dir, headerFile), &r.Header); err != nil {
		return r, err
	}
	var err error
	if r.Body, err = readFile(fsys, path.Join(dir, r.body()), maxBytes); err != nil {
		return r, err
	}
	if lines, err = readFile(fsys, path.Join(dir, chunksFile), maxBytes); err != nil {
		return r, err
	}
	if r.Chunks, err = readChunks(path.Join(dir, chunksFile), lines); err != nil {
		return r, err
	}
	if err := r.check(dir); err != nil {
		return r, err
	}
	if place := Secret(r.Header, r.Body); place != "" {
		return r, &Error{dir, place + ": " + ErrSecret.Error()}
	}
	return r, nil
}

func readChunks(file string, lines []byte) ([]providers.Chunk, error) {
	var chunks []providers.Chunk
	for n := 1; len(lines) > 0; n++ {
		line, rest, _ := bytes.Cut(lines, []byte("\n"))
		lines = rest
		if n > maxChunks {
			return nil, &Error{file, fmt.Sprintf("more than %d lines", maxChunks)}
		}
		var c chunk
		if err := strict(line, &c); err != nil {
			return nil, &Error{fmt.Sprintf("%s:%d", file, n), err.Error()}
		}
		if math.Abs(c.TMS) > float64(maxAge.Milliseconds()) {
			return nil, &Error{fmt.Sprintf("%s:%d", file, n), fmt.Sprintf("t_ms %g is not within %s", c.TMS, maxAge)}
		}
		chunks = append(chunks, providers.Chunk{Offset: c.Offset, Length: c.Length, At: duration(c.TMS)})
	}
	return chunks, nil
}

func readJSON(fsys fs.FS, file string, to any) error {
	data, err := readFile(fsys, file, maxSmall)
	if err != nil {
		return err
	}
	if err := strict(data, to); err != nil {
		return &Error{file, err.Error()}
	}
	if h, ok := to.(*http.Header); ok {
		canonical := http.Header{}
		for name, values := range *h {
			if strings.ContainsAny(name, "\r\n\x00: ") {
				return &Error{file, fmt.Sprintf("header name %.60q is none", name)}
			}
			canonical[http.CanonicalHeaderKey(name)] = append(canonical[http.CanonicalHeaderKey(name)], values...)
		}
		*h = canonical
	}
	return nil
}

// strict decodes one JSON value without unknown or repeated fields.
func strict(data []byte, to any) error {
	if err := strictjson.Check(data, strictjson.Limits{MaxBytes: maxSmall}); err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(to); err != nil {
		return errors.New(strings.TrimPrefix(err.Error(), "json: "))
	}
	return nil
}

func readFile(fsys fs.FS, file string, most int64) ([]byte, error) {
	f, err := fsys.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &Error{file, "there is no such file"}
	}
	if err != nil {
		return nil, &Error{file, "cannot be opened; links that lead out of the folder are not followed"}
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	switch {
	case err != nil || !info.Mode().IsRegular():
		return nil, &Error{file, "is no regular file"}
	case info.Size() > most:
		return nil, &Error{file, fmt.Sprintf("has more than %d bytes", most)}
	}
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err != nil || int64(len(data)) > most {
		return nil, &Error{file, "cannot be read, or grew while it was"}
	}
	return data, nil
}
