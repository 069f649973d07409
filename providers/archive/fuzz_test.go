package archive_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"flag"
	"io/fs"
	"path"
	"runtime/metrics"
	"strings"
	"testing"

	"github.com/interlock-harness/interlock/providers/archive"
)

// slack is what reading may allocate beyond its bounds: buffers of gzip and tar,
// headers, and the doubling of a slice that grows.
const slack = 16 << 20

// allocated is how many bytes this process has ever allocated. Unlike
// runtime.ReadMemStats it does not stop the world, which took most of the time of
// a short input.
func allocated() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// shortly has each input that reaches new code made smaller for a second, where
// the command line says nothing else. Go takes a minute: it tries to leave out
// every stretch of an input, which for some kilobytes never ends, and meanwhile
// nothing new is tried.
func shortly(f *testing.F) {
	f.Helper()
	const name = "test.fuzzminimizetime"
	said := false
	flag.Visit(func(g *flag.Flag) { said = said || g.Name == name })
	if said {
		return
	}
	if err := flag.Set(name, "1s"); err != nil {
		f.Fatal(err)
	}
}

// FuzzRead: whatever somebody sends, reading ends without a panic and within its
// bounds, what is refused leaves nothing, and what is taken has plain names and
// comes back as it was when it is packed again.
func FuzzRead(f *testing.F) {
	shortly(f)
	var good bytes.Buffer
	if err := archive.Write(&good, map[string][]byte{"a.json": []byte("{}"), "contract/invoice/contract.yaml": []byte("id: x"), "empty": {}}); err != nil {
		f.Fatal(err)
	}
	f.Add(good.Bytes(), false)
	f.Add(packed(f, []string{"a", "b/c"}, nil), false)
	f.Add(packed(f, []string{"../../x"}, nil), false)
	f.Add(packed(f, []string{"l"}, func(h *tar.Header) { h.Typeflag, h.Size, h.Linkname = tar.TypeSymlink, 0, "/etc/passwd" }), false)
	f.Add(packed(f, []string{strings.Repeat("a/", 90) + "b"}, nil), false)
	f.Add(packed(f, []string{"a"}, func(h *tar.Header) { h.Format, h.PAXRecords = tar.FormatPAX, map[string]string{"INTERLOCK.x": "y"} }), false)
	f.Add(zipped(bytes.Repeat([]byte{0}, 1<<20)), false)
	for _, name := range []string{"a", "A", "-a", "a\x00b", "é"} {
		f.Add(tarHeader(f, 3, []byte("abc"+name)), true) // plain tar: packed below, so that the fuzzer sees through gzip
	}
	unzip, err := gzip.NewReader(bytes.NewReader(good.Bytes()))
	if err != nil {
		f.Fatal(err)
	}
	var plain bytes.Buffer
	if _, err := plain.ReadFrom(unzip); err != nil {
		f.Fatal(err)
	}
	f.Add(plain.Bytes(), true)
	f.Fuzz(func(t *testing.T, data []byte, zip bool) {
		if zip {
			data = zipped(data)
		}
		before := allocated()
		files, err := archive.Read(data)
		used := allocated() - before
		if used > 8*archive.MaxBytes+slack {
			t.Fatalf("%d bytes were allocated", used)
		}
		if err != nil {
			if !errors.Is(err, archive.ErrRefused) || files != nil || strings.ContainsAny(err.Error(), "\x1b\n\x00") {
				t.Fatalf("%q, %d files", err, len(files))
			}
			return
		}
		size, folded := 0, map[string]bool{}
		for name, content := range files {
			size += len(content)
			fold := strings.ToLower(name)
			if !fs.ValidPath(name) || path.Clean(name) != name || strings.ContainsAny(name, "\\:\x00\n") || name[0] == '-' || folded[fold] {
				t.Fatalf("name %q", name)
			}
			folded[fold] = true
		}
		if size > archive.MaxBytes || len(files) > archive.MaxEntries {
			t.Fatalf("%d bytes in %d files", size, len(files))
		}
		var again bytes.Buffer
		if err := archive.Write(&again, files); err != nil {
			if len(files) > 0 && strings.Contains(err.Error(), "too long") { // names that only PAX and GNU archives hold
				return
			}
			t.Fatal(err)
		}
		same, err := archive.Read(again.Bytes())
		if err != nil || len(same) != len(files) {
			t.Fatalf("%v, %d files of %d", err, len(same), len(files))
		}
		for name, content := range files {
			if !bytes.Equal(same[name], content) {
				t.Fatalf("%s came back as %q", name, same[name])
			}
		}
	})
}
