package bpe_test

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"os"
	"slices"
	"testing"

	"github.com/interlock-harness/interlock/providers/prompt/bpe"
)

// toyGolden is a small tokenizer and what the library makes of texts with it.
type toyGolden struct {
	Name      string
	Tokenizer json.RawMessage
	Cases     []struct {
		S           string
		IDs, Framed []int  // without and with the tokens of the post-processor
		Text, Bare  string // of Framed, with and without special tokens
	}
}

func toys(t testing.TB) []toyGolden {
	t.Helper()
	f, err := os.Open("testdata/toys.jsonl.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	unzipped, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var all []toyGolden
	lines := bufio.NewScanner(unzipped)
	lines.Buffer(nil, 1<<22)
	for lines.Scan() {
		var toy toyGolden
		if err := json.Unmarshal(lines.Bytes(), &toy); err != nil {
			t.Fatal(err)
		}
		all = append(all, toy)
	}
	if len(all) < 20 {
		t.Fatalf("only %d toys", len(all))
	}
	return all
}

// toy returns the tokenizer of one golden.
func toy(t testing.TB, name string) *bpe.Tokenizer {
	t.Helper()
	for _, golden := range toys(t) {
		if golden.Name == name {
			tokenizer, err := bpe.Parse(golden.Tokenizer, name)
			if err != nil {
				t.Fatal(err)
			}
			return tokenizer
		}
	}
	t.Fatalf("no toy %q", name)
	return nil
}

func TestToysGiveTheIDsAndTextsOfTheLibrary(t *testing.T) {
	for _, golden := range toys(t) {
		t.Run(golden.Name, func(t *testing.T) {
			tokenizer, err := bpe.Parse(golden.Tokenizer, golden.Name)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range golden.Cases {
				if got, err := tokenizer.Encode(c.S, bpe.Options{}); err != nil || !slices.Equal(got, c.IDs) {
					t.Errorf("%q: ids %v (%v), want %v", c.S, got, err, c.IDs)
				}
				if got, err := tokenizer.Encode(c.S, bpe.Options{AddSpecialTokens: true}); err != nil || !slices.Equal(got, c.Framed) {
					t.Errorf("%q: framed ids %v (%v), want %v", c.S, got, err, c.Framed)
				}
				if got, err := tokenizer.Decode(c.Framed, false); err != nil || got != c.Text {
					t.Errorf("%v: text %q (%v), want %q", c.Framed, got, err, c.Text)
				}
				if got, err := tokenizer.Decode(c.Framed, true); err != nil || got != c.Bare {
					t.Errorf("%v: bare text %q (%v), want %q", c.Framed, got, err, c.Bare)
				}
			}
		})
	}
}

func TestAddedTokensAreRecognisedOnDemand(t *testing.T) {
	tokenizer := toy(t, "chatml")
	start, _ := tokenizer.ID("<|im_start|>")
	think, _ := tokenizer.ID("<think>")
	for _, c := range []struct {
		name         string
		which        bpe.Recognition
		start, think bool
	}{
		{"all", bpe.AllAdded, true, true},
		{"only those not flagged special", bpe.UnflaggedAdded, false, true},
		{"none", bpe.NoAdded, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			ids, err := tokenizer.Encode("a<|im_start|>b<think>c", bpe.Options{Added: c.which})
			if err != nil {
				t.Fatal(err)
			}
			if slices.Contains(ids, start) != c.start || slices.Contains(ids, think) != c.think {
				t.Errorf("ids %v; <|im_start|> is %d and <think> is %d", ids, start, think)
			}
			if text, err := tokenizer.Decode(ids, false); err != nil || text != "a<|im_start|>b<think>c" {
				t.Errorf("decoded %q, %v", text, err)
			}
		})
	}
}

func TestTokensAndIDsAnswerEachOther(t *testing.T) {
	tokenizer := toy(t, "chatml")
	for _, added := range tokenizer.AddedTokens() {
		if id, ok := tokenizer.ID(added.Content); !ok || id != added.ID {
			t.Errorf("id of %q is %d, %v, want %d", added.Content, id, ok, added.ID)
		}
		if token, ok := tokenizer.Token(added.ID); !ok || token != added.Content {
			t.Errorf("token of %d is %q, %v", added.ID, token, ok)
		}
		if got, ok := tokenizer.Added(added.ID); !ok || got != added {
			t.Errorf("added token of %d is %+v", added.ID, got)
		}
	}
	if _, ok := tokenizer.Token(1 << 20); ok {
		t.Error("an id without a token has one")
	}
	if _, ok := tokenizer.Added(0); ok {
		t.Error("a token of the model is an added one")
	}
	if len(tokenizer.Digest()) != 64 || tokenizer.Size() < 200 {
		t.Errorf("digest %q, size %d", tokenizer.Digest(), tokenizer.Size())
	}
}
