package certificate_test

import (
	"bytes"
	"flag"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/interlock-harness/interlock/providers/certificate"
	"github.com/interlock-harness/interlock/providers/fixtures"
	"github.com/interlock-harness/interlock/providers/profile"
)

// everyBit has each bit of each byte flipped where one bit of each is enough to see
// a mistake; it takes minutes.
var everyBit = flag.Bool("every-bit", false, "flip each bit, not one of each byte")

// bitsAt are the bits of a byte that are flipped.
func bitsAt(at int) []int {
	if *everyBit {
		return []int{0, 1, 2, 3, 4, 5, 6, 7}
	}
	return []int{at % 8}
}

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

// TestAnyFlippedBitOfAContractIsSeen flips bits of each byte of each file of a contract, its
// cases among them: it does not load then, or has another digest than the statement.
func TestAnyFlippedBitOfAContractIsSeen(t *testing.T) {
	files := small(t)
	whole, err := certificate.ReadContract(files, "contracts/triage")
	if err != nil {
		t.Fatal(err)
	}
	bytesOf := 0
	for name, file := range files {
		good := file.Data
		bytesOf += len(good)
		changed := bytes.Clone(good)
		file.Data = changed
		for at := range good {
			for _, bit := range bitsAt(at) {
				changed[at] ^= 1 << bit
				got, err := certificate.ReadContract(files, "contracts/triage")
				if err == nil && got.Digest == whole.Digest && got.Fixtures == whole.Fixtures {
					t.Fatalf("%s: bit %d of byte %d is not seen", path.Base(name), bit, at)
				}
				changed[at] = good[at]
			}
		}
		file.Data = good
	}
	t.Logf("%d flips in %d files", len(bitsAt(0))*bytesOf, len(files))
}

// TestTheGateDeniesWhatAFlippedBitMakesOfAContract carries a flip of each file to the
// gate's answer.
func TestTheGateDeniesWhatAFlippedBitMakesOfAContract(t *testing.T) {
	files := small(t)
	w := newWorld(t)
	whole, err := certificate.ReadContract(files, "contracts/triage")
	if err != nil {
		t.Fatal(err)
	}
	rest := func(c certificate.Contract) bool {
		w.evidence.Contracts = map[string]certificate.Contract{c.ID: c}
		return certificate.NewGate(w.evidence).Ask(certificate.Question{From: w.question.From, To: w.question.To, Contract: "triage", At: w.question.At}).Allow
	}
	w.bind(whole)
	w.file(sign(t, w.statement, w.key))
	if !rest(whole) {
		t.Fatal("the gate denies what was certified")
	}
	for name, file := range files {
		good := file.Data
		for at := 0; at < len(good); at += 1 + len(good)/16 {
			file.Data = bytes.Clone(good)
			file.Data[at] ^= 1
			if got, err := certificate.ReadContract(files, "contracts/triage"); err == nil && rest(got) {
				t.Errorf("%s: byte %d is another, and the gate allows", path.Base(name), at)
			}
		}
		file.Data = good
	}
}

// bind has the statement be about another contract.
func (w *world) bind(c certificate.Contract) {
	s := &w.statement
	s.Subject[1] = certificate.Subject{Name: "contract/" + c.Name(), Digest: certificate.Digest{SHA256: c.Digest}}
	s.Subject[2].Digest.SHA256 = c.Fixtures
	s.Predicate.Contract, s.Predicate.Plan.Cases, s.Predicate.Plan.Repeats = c.Name(), c.Cases, c.Repeats
	s.Predicate.Checks = s.Predicate.Checks[:0]
	for _, id := range c.Must {
		s.Predicate.Checks = append(s.Predicate.Checks, certificate.Check{
			ID: id, Severity: certificate.Must, Verdict: certificate.Pass, N: c.Cases, K: c.Repeats, Passes: c.Cases, Lower95: 1, Basis: certificate.Live, Evidence: []string{certificate.Hash([]byte(id))},
		})
	}
}

// TestAnyFlippedBitOfALongCertificateKeepsTheGateShut does with a certificate of all
// checks, as a run writes it, what row F01 does with a short one.
func TestAnyFlippedBitOfALongCertificateKeepsTheGateShut(t *testing.T) {
	w := newWorld(t)
	c := contract()
	c.Must = nil
	for n := range 56 {
		c.Must = append(c.Must, fmt.Sprintf("C%02d", n))
	}
	w.bind(c)
	w.evidence.Contracts = map[string]certificate.Contract{c.ID: c}
	good := sign(t, w.statement, w.key)
	w.file(good)
	w.expect(0, "")
	t.Logf("a certificate of %d bytes", len(good))
	if len(good) < 16<<10 || len(good) > 32<<10 {
		t.Errorf("%d bytes", len(good))
	}
	bad := bytes.Clone(good)
	step := 7 // row F01 flips all bits of a short one
	if *everyBit {
		step = 1
	}
	for at := 0; at < len(good); at += step {
		for _, bit := range bitsAt(at) {
			bad[at] ^= 1 << bit
			w.evidence.Files = []certificate.File{{Name: "a.dsse.json", Data: bad}}
			if a := certificate.NewGate(w.evidence).Ask(w.question); a.Allow || a.Exit == 0 {
				t.Fatalf("bit %d of byte %d (%q): %s", bit, at, good[at], a.Answer)
			}
			bad[at] = good[at]
		}
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
