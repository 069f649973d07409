package archive_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/interlock-harness/interlock/providers/archive"
)

func TestAnArchiveComesBackAndIsAlwaysTheSame(t *testing.T) {
	files := map[string][]byte{"a.json": []byte("{}"), "contract/invoice/contract.yaml": []byte("id: x"), "empty": {}}
	var one, two bytes.Buffer
	if err := errors.Join(archive.Write(&one, files), archive.Write(&two, maps.Clone(files))); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(one.Bytes(), two.Bytes()) {
		t.Error("the same files gave other bytes")
	}
	got, err := archive.Read(one.Bytes())
	if err != nil || len(got) != 3 || string(got["contract/invoice/contract.yaml"]) != "id: x" {
		t.Errorf("%v %v", err, slices.Collect(maps.Keys(got)))
	}
	if err := archive.Write(io.Discard, map[string][]byte{"../x": nil}); !errors.Is(err, archive.ErrRefused) {
		t.Errorf("wrote a name that leads out: %v", err)
	}
}

// packed is a tar of entries with one byte each, changed by f.
func packed(t testing.TB, names []string, f func(*tar.Header)) []byte {
	t.Helper()
	var b bytes.Buffer
	zip := gzip.NewWriter(&b)
	w := tar.NewWriter(zip)
	for _, name := range names {
		h := &tar.Header{Name: name, Mode: 0o644, Size: 1, Typeflag: tar.TypeReg}
		if f != nil {
			f(h)
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if h.Size > 0 {
			_, _ = w.Write([]byte("x"))
		}
	}
	_ = w.Close()
	_ = zip.Close()
	return b.Bytes()
}

func TestAnArchiveThatIsNotOfTheStrictFormIsRefused(t *testing.T) {
	good := packed(t, []string{"a"}, nil)
	kind := func(flag byte) func(*tar.Header) {
		return func(h *tar.Header) { h.Typeflag, h.Size, h.Linkname = flag, 0, "a" }
	}
	many := make([]string, archive.MaxEntries+1)
	for i := range many {
		many[i] = fmt.Sprintf("f%d", i)
	}
	for name, data := range map[string][]byte{
		"G26 up":                  packed(t, []string{"../../x"}, nil),
		"G26 absolute":            packed(t, []string{"/etc/x"}, nil),
		"G26 up inside":           packed(t, []string{"a/../../x"}, nil),
		"G26 backslashes":         packed(t, []string{`x\..\..\y`}, nil),
		"G26 a drive":             packed(t, []string{`C:x`}, nil),
		"G26 a dot":               packed(t, []string{"./a"}, nil),
		"G27 symbolic link":       packed(t, []string{"l"}, kind(tar.TypeSymlink)),
		"G27 hard link":           packed(t, []string{"l"}, kind(tar.TypeLink)),
		"G27 device":              packed(t, []string{"d"}, kind(tar.TypeChar)),
		"G27 fifo":                packed(t, []string{"d"}, kind(tar.TypeFifo)),
		"G27 folder":              packed(t, []string{"d"}, kind(tar.TypeDir)),
		"G27 setuid":              packed(t, []string{"s"}, func(h *tar.Header) { h.Mode = 0o4755 }),
		"G28 twice":               packed(t, []string{"a", "a"}, nil),
		"G28 letter case":         packed(t, []string{"a", "A"}, nil),
		"G28 two Unicode forms":   packed(t, []string{"e\u0301", "\u00e9"}, nil),
		"G29 too many":            packed(t, many, nil),
		"G30 trailing garbage":    append(bytes.Clone(good), "x"...),
		"G30 two members":         append(bytes.Clone(good), good...),
		"G31 newline":             packed(t, []string{"a\nb"}, nil),
		"G31 ANSI":                packed(t, []string{"a\x1b[2J"}, nil),
		"G31 leading hyphen":      packed(t, []string{"-rf"}, nil),
		"G31 a long name":         packed(t, []string{strings.Repeat("a", 255)}, nil),
		"no gzip":                 []byte("PK"),
		"cut":                     good[:len(good)-20],
		"empty":                   {},
		"no tar":                  zipped([]byte("hello, this is no tar file")),
		"G29 header says more":    zipped(tarHeader(t, 100, []byte("short"))),
		"something after the end": zipped(append(tarHeader(t, 1, nil), bytes.Repeat([]byte("y"), 2048)...)),
	} {
		t.Run(name, func(t *testing.T) {
			files, err := archive.Read(data)
			if !errors.Is(err, archive.ErrRefused) || files != nil {
				t.Errorf("%v, %d files", err, len(files))
			}
			if err != nil && strings.ContainsAny(err.Error(), "\x1b\n") {
				t.Errorf("a name is shown as it is: %q", err)
			}
		})
	}
	if _, err := archive.Read(good); err != nil {
		t.Errorf("the good one: %v", err)
	}
}

// zippers are kept: one takes most of a megabyte, which a fuzzer would make and
// collect for each input.
var zippers = sync.Pool{New: func() any { return gzip.NewWriter(nil) }}

func zipped(data []byte) []byte {
	var b bytes.Buffer
	w := zippers.Get().(*gzip.Writer)
	defer zippers.Put(w)
	w.Reset(&b)
	_, _ = w.Write(data)
	_ = w.Close()
	return b.Bytes()
}

// tarHeader is a header that claims size bytes, and what follows it.
func tarHeader(t testing.TB, size int64, content []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	if err := w.WriteHeader(&tar.Header{Name: "a", Mode: 0o644, Size: size, Typeflag: tar.TypeReg}); err != nil {
		t.Fatal(err)
	}
	return append(b.Bytes(), content...)
}

// TestABombStopsAtTheLimit unpacks one entry of 10 GiB of zeros (G29).
func TestABombStopsAtTheLimit(t *testing.T) {
	var b bytes.Buffer
	zip, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	w := tar.NewWriter(zip)
	if err := w.WriteHeader(&tar.Header{Name: "zeros", Mode: 0o644, Size: 10 << 30, Typeflag: tar.TypeReg}); err != nil {
		t.Fatal(err)
	}
	zeros := make([]byte, 1<<20)
	for range 80 { // more than the limit is enough to show
		_, _ = w.Write(zeros)
	}
	_ = zip.Flush()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := archive.Read(b.Bytes()); !errors.Is(err, archive.ErrRefused) {
		t.Errorf("%v", err)
	}
	runtime.ReadMemStats(&after)
	if grew := after.TotalAlloc - before.TotalAlloc; grew > 8<<20 {
		t.Errorf("%d bytes were allocated for a bomb that its header gives away", grew)
	}
}

func TestTheFilesOfAnArchiveAreAFileSystem(t *testing.T) {
	files := map[string][]byte{"a.json": []byte("{}"), "contract/x/contract.yaml": []byte("id: x"), "contract/x/cases/one.yaml": []byte("1")}
	if err := fstest.TestFS(archive.FS(files), "a.json", "contract/x/contract.yaml", "contract/x/cases/one.yaml"); err != nil {
		t.Error(err)
	}
}
