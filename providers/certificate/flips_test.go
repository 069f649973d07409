package certificate_test

import (
	"bytes"
	"io/fs"
	"path"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/interlock-harness/interlock/providers/certificate"
	"github.com/interlock-harness/interlock/providers/fixtures"
	"github.com/interlock-harness/interlock/providers/profile"
)

// small is the contract triage with its first cases only.
func small(t *testing.T) fstest.MapFS {
	t.Helper()
	files := fstest.MapFS{}
	cases := 0
	err := fs.WalkDir(fixtures.FS, "contracts/triage", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		if strings.Contains(name, "/cases/") {
			if cases++; cases > 2 {
				return nil
			}
		}
		data, err := fs.ReadFile(fixtures.FS, name)
		files[name] = &fstest.MapFile{Data: data}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestAnyFlippedBitOfAContractIsSeen flips one bit in each byte of each file of a
// contract: it does not load then, or has another digest, and the gate says no.
func TestAnyFlippedBitOfAContractIsSeen(t *testing.T) {
	files := small(t)
	whole, err := certificate.ReadContract(files, "contracts/triage")
	if err != nil {
		t.Fatal(err)
	}
	flips := 0
	for name, file := range files {
		good := file.Data
		for at := range good {
			changed := bytes.Clone(good)
			changed[at] ^= 1 << (at % 8)
			file.Data = changed
			flips++
			got, err := certificate.ReadContract(files, "contracts/triage")
			if err == nil && got.Digest == whole.Digest && got.Fixtures == whole.Fixtures {
				t.Fatalf("%s: bit %d of byte %d is not seen", path.Base(name), at%8, at)
			}
		}
		file.Data = good
	}
	if flips < 2000 {
		t.Errorf("%d flips", flips)
	}
}

// TestAnyFlippedBitOfAProfileIsSeen does the same with a profile. What does not change
// where or how a request goes is left out of its digest on purpose: the name of the
// variable with the key, and comments.
func TestAnyFlippedBitOfAProfileIsSeen(t *testing.T) {
	text, err := fs.ReadFile(fixtures.FS, "profiles/openai-demo.yaml")
	if err != nil {
		t.Fatal(err)
	}
	load := func(data []byte) (string, error) {
		p, err := profile.Load(fstest.MapFS{"openai-demo.yaml": {Data: data}}, "openai-demo.yaml")
		return certificate.ProfileDigest(p), err
	}
	whole, err := load(text)
	if err != nil {
		t.Fatal(err)
	}
	line := 0
	lines := strings.Split(string(text), "\n")
	for at, c := range text {
		for bit := range 8 {
			changed := bytes.Clone(text)
			changed[at] ^= 1 << bit
			got, err := load(changed)
			if err != nil || got != whole {
				continue
			}
			if l := strings.TrimSpace(lines[line]); !strings.HasPrefix(l, "env:") && !strings.HasPrefix(l, "#") && !strings.HasPrefix(l, "allow_loopback:") && !sameMeaning(text, changed) {
				t.Errorf("line %d (%s): bit %d of byte %d is not seen", line+1, l, bit, at)
			}
		}
		if c == '\n' {
			line++
		}
	}
}

// sameMeaning tells changes of letter case where it has no meaning: header names and
// host names.
func sameMeaning(a, b []byte) bool { return bytes.EqualFold(a, b) }
