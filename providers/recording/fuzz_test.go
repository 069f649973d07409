package recording_test

import (
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime/metrics"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/interlock-harness/interlock/providers/recording"
)

// names are the files of a recording, in the order in which the fuzzer fills them.
var names = []string{"meta.json", "response.headers.json", "response.sse", "chunks.jsonl"}

// watched is a file system that notes every name that is opened.
type watched struct {
	fs.FS
	opened []string
}

func (w *watched) Open(name string) (fs.File, error) {
	w.opened = append(w.opened, name)
	return w.FS.Open(name)
}

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

// FuzzRead: whatever stands in the files of a recording, reading ends without a
// panic, opens nothing outside the folder and no name that is not a recording's,
// takes memory in proportion to what is there, and what it takes is written and
// read again as it was.
func FuzzRead(f *testing.F) {
	shortly(f)
	r, err := recording.Of(meta(), transcript("data: {\"a\":1}\n\ndata: [DONE]\n\n"), nil, at)
	if err != nil {
		f.Fatal(err)
	}
	folder, err := recording.Write(f.TempDir(), r)
	if err != nil {
		f.Fatal(err)
	}
	var good [4]string
	for i, name := range names {
		data, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			f.Fatal(err)
		}
		good[i] = string(data)
	}
	add := func(change func(*[4]string)) {
		g := good
		change(&g)
		f.Add("ml-vallam", "1", []byte(g[0]), []byte(g[1]), []byte(g[2]), []byte(g[3]))
	}
	add(func(*[4]string) {})
	add(func(g *[4]string) { g[0] = strings.Replace(g[0], `"stream": true`, `"stream": false`, 1) })
	add(func(g *[4]string) { g[0] = strings.Replace(g[0], "ml-vallam", "../../x", 1) })
	add(func(g *[4]string) { g[0] = strings.Replace(g[0], `200`, `1e1000001`, 1) })
	add(func(g *[4]string) { g[1] = `{"Content-Type":null,"content-type":["a"]}` })
	add(func(g *[4]string) { g[1] = strings.Repeat("[", 1000) })
	add(func(g *[4]string) { g[2] = "sk-abcdefghijklmnopqrstuvwx" })
	add(func(g *[4]string) { g[3] = `{"offset":0,"length":9223372036854775807,"t_ms":1}` + "\n" })
	add(func(g *[4]string) {
		g[3] = `{"offset":0,"length":1,"t_ms":-0}` + "\n" + `{"offset":1,"length":1,"t_ms":1e300}` + "\n"
	})
	add(func(g *[4]string) { g[3] = strings.Repeat("\n", 1000) })
	f.Add("..", "..", []byte(good[0]), []byte(good[1]), []byte(good[2]), []byte(good[3]))
	plain := regexp.MustCompile(`^vendor(/[^/]+){0,2}$|^vendor/[^/]+/[^/]+/(?:meta\.json|response\.headers\.json|response\.body|response\.sse|chunks\.jsonl)$`)
	f.Fuzz(func(t *testing.T, kase, number string, metaJSON, header, body, chunks []byte) {
		dir := "vendor/" + kase + "/" + number + "/"
		files := fstest.MapFS{}
		for i, data := range [][]byte{metaJSON, header, body, chunks} {
			if name := dir + names[i]; fs.ValidPath(name) {
				files[name] = &fstest.MapFile{Data: data, Mode: 0o644}
			}
		}
		files["secret"] = &fstest.MapFile{Data: []byte("root:x")}
		files["response.sse"] = files["secret"]
		w := &watched{FS: files}
		before := allocated()
		set, err := recording.Read(w, "vendor")
		used := allocated() - before
		held := uint64(len(metaJSON) + len(header) + len(body) + len(chunks))
		if used > 1<<20+400*held {
			t.Fatalf("%d bytes were allocated for %d", used, held)
		}
		for _, name := range w.opened {
			if !plain.MatchString(name) {
				t.Fatalf("opened %q", name)
			}
		}
		if err != nil {
			if strings.Contains(err.Error(), "root:x") {
				t.Fatalf("it shows what lies outside: %v", err)
			}
			return
		}
		if set.Len() == 0 {
			return
		}
		got, err := recording.One(files, strings.TrimSuffix(dir, "/"))
		if err != nil {
			t.Fatalf("Read takes it, One says %v", err)
		}
		if found, ok := set.Find(got.Key()); !ok || string(found.Body) != string(got.Body) {
			t.Fatalf("found %v %+v", ok, found)
		}
		to := t.TempDir()
		folder, err := recording.Write(to, got)
		if err != nil {
			t.Fatal(err)
		}
		if in, err := filepath.Rel(to, folder); err != nil || !filepath.IsLocal(in) {
			t.Fatalf("written to %q", folder)
		}
		again, err := recording.Read(os.DirFS(to), "vendor")
		if err != nil && !errors.Is(err, fs.ErrNotExist) || again.Len() != 1 {
			t.Fatalf("what was written cannot be read: %v", err)
		}
		same, _ := again.Find(got.Key())
		if string(same.Body) != string(got.Body) || len(same.Chunks) != len(got.Chunks) {
			t.Fatalf("%+v came back as %+v", got, same)
		}
	})
}
