package bpe_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/interlock-harness/interlock/providers/prompt/bpe"
)

func TestStreamTurnsTextsIntoIDsAndBack(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tokenizer.json")
	content := with(`"added_tokens":[{"content":"<s>","special":true}],"decoder":{"type":"Fuse"},`)
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, in, want string
		o              bpe.StreamOptions
	}{
		{"texts", `["ab", "", "<s>a"]`, "[[2],[],[3,0]]\n", bpe.StreamOptions{}},
		{"texts that are only text", `["<s>a"]`, "[[0]]\n", bpe.StreamOptions{NoSpecial: true}},
		{"no texts", `[]`, "[]\n", bpe.StreamOptions{}},
		{"ids", `[[3,2],[]]`, "[\"<s>ab\",\"\"]\n", bpe.StreamOptions{Decode: true}},
		{"ids without special tokens", `[[3,2]]`, "[\"ab\"]\n", bpe.StreamOptions{Decode: true, NoSpecial: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out bytes.Buffer
			if err := bpe.TokenizeStream(file, strings.NewReader(c.in), &out, c.o); err != nil || out.String() != c.want {
				t.Errorf("wrote %q, %v, want %q", out.String(), err, c.want)
			}
		})
	}
	framed := filepath.Join(t.TempDir(), "framed.json")
	if err := os.WriteFile(framed, []byte(with(`"post_processor":{"type":"ByteLevel"},`)), 0o600); err != nil {
		t.Fatal(err)
	}
	var none bytes.Buffer
	if err := bpe.TokenizeStream(framed, strings.NewReader(`[""]`), &none, bpe.StreamOptions{}); err != nil || none.String() != "[[]]\n" {
		t.Errorf("no ids of a processed text are %q, %v, want an empty array", none.String(), err)
	}
	for _, in := range []string{"", "null", "{}", `[1]`, `["a"`, `["a"] ["b"]`, `["a"]x`} {
		var out bytes.Buffer
		if err := bpe.TokenizeStream(file, strings.NewReader(in), &out, bpe.StreamOptions{}); err == nil || out.Len() > 0 {
			t.Errorf("%q: wrote %q, %v, want an error and nothing written", in, out.String(), err)
		}
	}
	if err := bpe.TokenizeStream(file+".not", strings.NewReader("[]"), &bytes.Buffer{}, bpe.StreamOptions{}); err == nil {
		t.Error("a file that does not exist is no error")
	}
}
